-- The newest inputs that could not be understood.
SELECT d.`stage`, d.`kind`, d.`error`, d.`observed_at`
FROM `dead_letter` d
ORDER BY d.`observed_at` DESC, d.`cluster`, d.`id`
LIMIT :limit

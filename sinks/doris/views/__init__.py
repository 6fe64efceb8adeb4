"""The public views, one .sql file each: every column commented, written for Doris 2.1 and later."""

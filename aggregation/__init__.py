"""From the log to answers: why each job waits, for how long because of what, and whether its promise holds.

Operators here are pure functions of the log's records; a runner feeds them, keeps their state and writes the rows they
give. Rooms: what a text says (`messages`), which reason leads (`attribution`), one job's life (`lifecycle`), promises
(`sla`), hours (`rollups`), the operators that join them (`operators`) and what drives them (`runners`). Nothing here
knows how records were collected or where rows end; the stage may look at `pipeline` only.
"""

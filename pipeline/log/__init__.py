"""The record log: append-only lines in segments on disk, behind one writer and many named readers.

Here belong the seam that stages code against (`LogWriter`, `LogReader`, `Position`, `Entry`, `Batch`), the files behind
it (`layout`, `index`, `scan`, `segment`), what keeps them whole (`recovery`, `repair`, `retention`, `readers`), what the
parts of one process share of a log (`sharing`, `wake`, `steps`), and the SQLite files that move with it (`databases`) with
the outbox through which judged rows reach the loader (`outbox`). A log in Kafka will stand behind the same seam.

Not here: what a line means (`pipeline.records`), and when to write or read one. This room looks at `records`, `errors`,
`clock` and `faults`.

On disk, a log is a folder: `0000000001.ndjson` (one record a line), `0000000001.index` (its durable blocks),
`readers/NAME.json` (how far each reader has come), `quarantine/` (bytes that were cut off), `LOCK`. Data is the truth;
an index can always be made again from it.
"""

from pipeline.log.options import LogOptions
from pipeline.log.positions import Batch, Entry, Position
from pipeline.log.reader import LogReader
from pipeline.log.segment import LogFull
from pipeline.log.writer import LogWriter

__all__ = ["Batch", "Entry", "LogFull", "LogOptions", "LogReader", "LogWriter", "Position"]

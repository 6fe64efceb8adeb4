"""What a scheduler's message says.

Here a text of a condition or an event becomes reasons with counts and a few facts; nothing here knows jobs, episodes
or which reason leads. Pure: no clock, no I/O, one text in and one `Message` out, whoever wrote it. The words of filters
are shared by all writers (`filters`, `node_list`), the rest is a table for each writer (`dialects`). It may look at
`pipeline.records` and at nothing else of this stage.
"""

from aggregation.messages.message import Message, Said
from aggregation.messages.reader import parse

__all__ = ["Message", "Said", "parse"]

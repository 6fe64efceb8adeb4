"""When something was seen, and what a record changed: what every kind's module gets and gives."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from pipeline.records import times

_moment = lru_cache(maxsize=16384)(times.parse_ms)


class Sight(msgspec.Struct, frozen=True, gc=False):
    """The receive time of a record, and how it came: `unseen_since` is the last contact before a gap (rule P5)."""

    at_ms: int
    unseen_since: int | None = None
    observed: bool = True
    """False: the first sight of the object was not its creation."""
    first_ms: int | None = None
    """When the object was received for the first time, if that was before this record: its job has changed."""

    def created(self, text: str | None) -> int:
        """The creation of an object that the job sees for the first time: as `held`, of its own first arrival."""
        if self.first_ms is None:
            return self.held(text)
        second = _moment(text)
        return self.first_ms if second is None else times.held_in_second(second, self.first_ms)

    def held(self, text: str | None) -> int:
        """The arrival inside the second that the object names; the arrival alone if it names none (rule P4)."""
        second = _moment(text)
        return self.at_ms if second is None else times.held_in_second(second, self.at_ms)

    def held_ms(self, second_ms: int | None) -> int:
        """As `held`, of a second that was already read."""
        return self.at_ms if second_ms is None else times.held_in_second(second_ms, self.at_ms)

    def late_for(self, text: str | None) -> bool:
        """Whether it arrived after the second that the object names."""
        second = _moment(text)
        return second is not None and self.at_ms > second + 999


class Noted(msgspec.Struct, frozen=True, gc=False):
    """What a record changed. Nothing of what follows needs to look if it is not `relevant`."""

    relevant: bool = True
    pod: str = ""
    """uid of the pod whose texts or facts are to be judged anew."""
    everyone: bool = False
    """So are all pods."""
    lost_ms: int | None = None
    """A wait may begin here: a placed pod was lost, or the job was suspended or evicted."""
    lost_why: str = ""
    vanished_since: int | None = None
    """The pod was lost unseen, at some moment after this."""
    corrected_ms: int | None = None
    """The pod itself told when it was placed, after an event had: the moment that the event had told."""


NOTHING = Noted(relevant=False)

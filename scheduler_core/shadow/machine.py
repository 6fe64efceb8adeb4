"""When a session opens, and what comes of it: a function of the log alone.

Log time is the largest `observedms` so far. When it passes a whole second and something has changed since the last
session, a session opens at that second, on everything that was in the log before it. So a log that is read at any speed,
in any pieces, gives the same decisions. A session opens without a change too when time itself is what was waited for:
figures that were held back, a bind that nobody carries out, a job that nobody had looked at yet, a promise that is over.

A job that has only just come waits for its scheduler's first look and for nothing else. So the shadow says no reason of
it before that scheduler has refused one of its pods, or has had some seconds to.

Every session ends with a `close`. After a restart none opens whose close is in the log (`heard`): what it said is taken
from there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, Protocol

import msgspec

from pipeline.records import reasons, stored
from pipeline.records.decisions import Decision
from pipeline.records.envelope import DecisionRecord, FiguresRecord, Record
from scheduler_core.cache.mirror import OTHERS, VOLCANO, Mirror
from scheduler_core.model.policy import Policy
from scheduler_core.shadow import records
from scheduler_core.shadow.diverging import Diverging, Open
from scheduler_core.shadow.figures import Book, Told
from scheduler_core.shadow.said import Line, Said, stands

SCHEMA: Final = 1
SETTLE_S: Final = 3
"""So long after its beginning a log may still be telling, kind by kind, what there is."""
FIRST_LOOK_MS: Final = 4000
"""What a scheduler may need for its first look at a pod, counted from the whole second of the pod's creation."""
_SECOND_MS: Final = 1000
_NS_IN_MS: Final = 1_000_000


class Decider(Protocol):
    """Decides for one policy about the pods that are its own. `due_ms`: when time alone will change what it said last."""

    due_ms: int | None

    def __call__(self, mirror: Mirror, session_ms: int) -> Sequence[Decision]:
        """The decisions at a log second; the mirror stays as it is."""
        ...

    def adopt(self, policy: Policy) -> None:
        """Goes by another policy of Volcano's from now on, if it goes by any."""
        ...


class Stored(msgspec.Struct):
    """A machine as a snapshot holds it. `stamp` is the log time (ms) that it has reached."""

    schema: int
    stamp: int
    begin_s: int
    session_ms: int
    dirty: bool
    eased: bool
    figures_ms: int | None
    first_look_ms: int | None
    lines: list[Line]
    open: Open
    mirror: bytes
    promise_ms: int | None = None
    figures: Told | None = None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Stored)


class Machine:
    """The shadow of one cluster. `policy` names what closes its sessions; `book` says what is told by the minute."""

    def __init__(self, mirror: Mirror, deciders: Sequence[Decider], policy: str, book: Book | None = None) -> None:
        self.mirror = mirror
        self.book = book
        self.stamp = -1
        self.session_ms = -1
        self._deciders = deciders
        self._policy = policy
        self._begin_s = -1
        self._dirty = False
        self._eased = False
        self._said = Said()
        self._diverging = Diverging()
        self._first_look_ms: int | None = None
        self._promise_ms: int | None = None

    def adopt(self, policy: Policy) -> None:
        """Decides by another policy from now on. A session is due at once: what stood by the old one is told anew or taken back."""
        for decider in self._deciders:
            decider.adopt(policy)
        self._policy = policy.name
        self._dirty = True

    def due(self, stamp: int) -> int | None:
        """Lets log time come to `stamp`; the second (ms) at which a session has to open before what has this stamp."""
        before_s, self.stamp = self.stamp // _SECOND_MS, max(self.stamp, stamp)
        second = self.stamp // _SECOND_MS
        if self._begin_s < 0:
            self._begin_s = second
        if second <= before_s or second < self._begin_s + SETTLE_S:
            return None
        first = max(before_s + 1, self._begin_s + SETTLE_S)
        if self._dirty:
            return first * _SECOND_MS
        times = (self._said.due_ms, self._diverging.due_ms, self._first_look_ms, self._promise_ms)
        awaited = [at for at in times if at is not None]
        if not awaited or min(awaited) > second * _SECOND_MS:
            return None
        return max(first, -(-min(awaited) // _SECOND_MS)) * _SECOND_MS

    def minute(self, stamp: int) -> int | None:
        """The minute (ms) of which figures are due before what has this stamp; None while the log is still telling all
        there is."""
        if self.book is None or stamp // _SECOND_MS < self._begin_s + SETTLE_S:
            return None
        return self.book.due(stamp)

    def figures(self, minute_ms: int) -> list[FiguresRecord]:
        """What is to be told from this minute on."""
        return [] if self.book is None else self.book.records(self.mirror, minute_ms)

    def pass_figures(self, minute_ms: int) -> None:
        """There are none of this minute: they could not be worked out."""
        if self.book is not None:
            self.book.pass_over(minute_ms)

    def take(self, record: Record) -> None:
        """Takes in a record of the log."""
        noted = self.mirror.apply(record)
        if not noted.changed:
            return
        self._dirty = True
        if noted.eased:
            self._eased = True
            self._diverging.eased(self.stamp)
        elif noted.bound and not self._eased and (pod := self.mirror.pod(noted.bound)) is not None:
            self._diverging.bound(pod, self._said, self.stamp)

    def decide(self, session_ms: int) -> list[DecisionRecord]:
        """Opens and closes a session: the records that have to be written."""
        news = [*self._diverging.contradicted(self._said, session_ms), *self._compare(session_ms)]
        news.append(Decision(source="shadow", policy=self._policy, session_ms=session_ms, kind="close"))
        self.settle(session_ms)
        return [records.of(each, self.mirror.cluster) for each in news]

    def _compare(self, session_ms: int) -> list[Decision]:
        """What a session decides, as far as it is new."""
        self._promise_ms = None
        made = self.ask(session_ms)
        self._promise_ms = min((each.due_ms for each in self._deciders if each.due_ms is not None), default=None)
        diverged = list(self._diverging.binds(made, self._said, session_ms))
        young = self._young(session_ms)
        told = [each for each in made if not (self._diverging.silenced(each) or _holds(each, young) or _is_known(each))]
        return diverged + self._said.news(told, session_ms)

    def ask(self, session_ms: int) -> list[Decision]:
        """All that a session would decide at this moment; nothing is remembered of it."""
        return [each for decider in self._deciders for each in decider(self.mirror, session_ms) if each.kind != "close"]

    def heard(self, session_ms: int, decisions: Iterable[Decision], *, last: bool) -> None:
        """An earlier run has closed a session of this second and written these decisions: it is not opened again.

        The `last` one is thought through once more, without a word: what it had to wait for is not in the log.
        """
        list(self._diverging.contradicted(self._said, session_ms))
        for each in decisions:
            self._said.note(each)
            self._diverging.note(each)
        if last:
            self._compare(session_ms)
        self.settle(session_ms)

    def skip(self) -> None:
        """There is no time for the session that is due: what called for it calls for the next."""
        self._dirty = True

    def settle(self, session_ms: int) -> None:
        """Nothing that came so far calls for a session any more."""
        self.session_ms = session_ms
        self._dirty = self._eased = False

    def _young(self, session_ms: int) -> set[str]:
        """Jobs, by uid, whose pods nobody has looked at yet and that have not waited long enough to wonder why."""
        looked: dict[str, int] = {}
        for view in (VOLCANO, OTHERS):
            for pod in self.mirror.waiting(view):
                if pod.job is not None:
                    at_ms = 0 if pod.tried or pod.facts.gates else pod.facts.created_ns // _NS_IN_MS + FIRST_LOOK_MS
                    looked[pod.job.uid] = min(at_ms, looked.get(pod.job.uid, at_ms))
        for group in self.mirror.outside():
            if group.job is not None and group.job.uid not in looked:
                looked[group.job.uid] = group.created_ns // _NS_IN_MS + FIRST_LOOK_MS
        later = {uid: at_ms for uid, at_ms in looked.items() if at_ms > session_ms}
        self._first_look_ms = min(later.values(), default=None)
        return set(later)

    # --- snapshots ------------------------------------------------------------------------------------------------------

    def encode(self) -> bytes:
        """All of its state, for `restore`."""
        return _encoder.encode(
            Stored(
                SCHEMA, self.stamp, self._begin_s, self.session_ms, self._dirty, self._eased, self._said.due_ms,
                self._first_look_ms, self._said.lines(), self._diverging.open, self.mirror.encode(),
                self._promise_ms, None if self.book is None else self.book.told,
            )
        )  # fmt: skip

    def restore(self, data: bytes) -> None:
        """Goes on from an encoded state. Raises Terminal when another version of this code wrote it."""
        kept = stored.read(_decoder.decode, data, SCHEMA, "state of the shadow")
        self.mirror = self.mirror.again(kept.mirror)
        self.stamp, self._begin_s, self.session_ms = kept.stamp, kept.begin_s, kept.session_ms
        self._dirty, self._eased = kept.dirty, kept.eased
        self._said = Said(kept.lines, kept.figures_ms)
        self._first_look_ms, self._promise_ms = kept.first_look_ms, kept.promise_ms
        if self.book is not None and kept.figures is not None:
            self.book.told = kept.figures
        self._diverging = Diverging(kept.open)


def _holds(decision: Decision, jobs: set[str]) -> bool:
    """Whether it is a reason to wait of one of these jobs."""
    return stands(decision) and decision.job is not None and decision.job.uid in jobs


def _is_known(decision: Decision) -> bool:
    """That nobody looked yet is to be seen without a session."""
    return decision.kind == "attribution" and decision.reason == reasons.SCHEDULER_BACKLOG

"""Failure codes: which checks a node fails for a class, as bits of one number.

Bits 0 to 31 are checks of plugins: those that plugins list, in the order of the policy, then others as they are met; bits
32 to 63 are resources, in the order in which something first asks for them; of more than 32 the rest share the last bit.
So a column of codes is the exact joint distribution of failing checks, and counting equal codes is counting nodes by the
set of checks they fail.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from pipeline.records import reasons
from scheduler_core.model.checks import UNRESOLVABLE, UNSCHEDULABLE, Check
from scheduler_core.model.resources import Axis
from scheduler_core.session import readings
from scheduler_core.session.readings import Reading
from scheduler_core.session.tallies import Tallies

if TYPE_CHECKING:
    from scheduler_core.session.tallies import Counts

FIRST_RESOURCE: Final = 32
RESOURCES: Final = 0xFFFFFFFF << FIRST_RESOURCE
FITS: Final = 0
_IN_A_BYTE: Final = 8
_PLACES: Final = np.array([[1 << at] for at in range(_IN_A_BYTE)], dtype=np.uint8)

NOT_READY: Final = Check("NodeNotReady", UNRESOLVABLE, "node(s) were not ready", reasons.NODE_NOT_READY, "were ready")


class Kinds:
    """Which sets of checks fail in some places: `of` each place the number of its set, and the `codes` of sets by number."""

    __slots__ = ("codes", "of")

    def __init__(self, of: npt.NDArray[Any], codes: npt.NDArray[np.uint64]) -> None:
        self.of = of
        self.codes = codes


def in_a_byte(bits: tuple[int, ...]) -> bool:
    """Whether a set of these checks is a byte, with a bit for each in turn; else it is its code."""
    return len(bits) <= _IN_A_BYTE


def no_sets(bits: tuple[int, ...], places: int) -> npt.NDArray[Any]:
    """The sets of these checks in so many places in which none fails."""
    return np.zeros(places, dtype=np.uint8 if in_a_byte(bits) else np.uint64)


def sets(bits: tuple[int, ...], failed: npt.NDArray[np.bool_]) -> npt.NDArray[Any]:
    """Sets of these checks, from where each fails (by check, by place)."""
    if not bits:
        return no_sets(bits, failed.shape[1])
    if in_a_byte(bits):
        packed: npt.NDArray[np.uint8] = np.bitwise_or.reduce(failed * _PLACES[: len(bits)], axis=0)
        return packed
    found = no_sets(bits, failed.shape[1])
    for bit, fails in zip(bits, failed, strict=True):
        found |= fails * np.uint64(bit)
    return found


def kinds(bits: tuple[int, ...], of: npt.NDArray[Any]) -> Kinds:
    """These sets by number."""
    if in_a_byte(bits):
        return Kinds(of, _meaning(bits))
    values, numbers = np.unique(of, return_inverse=True)
    return Kinds(numbers, values)


def of_rows(named: Sequence[tuple[int, npt.NDArray[np.bool_]]]) -> Kinds:
    """The sets of checks that fail on some rows, from the code of each check and where it fails."""
    if len(named) <= _IN_A_BYTE:
        bits = tuple([bit for bit, _ in named])
        return Kinds(sets(bits, np.array([fails for _, fails in named])), _meaning(bits))
    codes = np.zeros(len(named[0][1]), dtype=np.uint64)
    for bit, fails in named:
        codes[fails] |= np.uint64(bit)
    values, numbers = np.unique(codes, return_inverse=True)
    return Kinds(numbers, values)


def fewest(known: Kinds) -> Kinds:
    """The same with only those sets that are there."""
    there = np.bincount(known.of, minlength=len(known.codes)).nonzero()[0]
    number = np.zeros(len(known.codes), dtype=np.int64)
    number[there] = np.arange(len(there))
    return Kinds(number.take(known.of), known.codes.take(there))


@functools.cache
def _meaning(bits: tuple[int, ...]) -> npt.NDArray[np.uint64]:
    """The code that each value of a byte stands for."""
    return np.array(
        [sum({bit for at, bit in enumerate(bits) if value >> at & 1}) for value in range(1 << len(bits))],
        dtype=np.uint64,
    )


class Codes:
    """The meaning of bits in one session."""

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.checks: list[Check] = [NOT_READY]
        self._bit_of: dict[Check, int] = {NOT_READY: 1}
        self._bit_of_place: dict[int, int] = {}
        self.unresolvable = 1
        self._checks_of: dict[int, tuple[Check, ...]] = {}
        self._obstacles_of: dict[int, tuple[Check, ...]] = {}
        self._reasons_of: dict[int, frozenset[str]] = {}
        self._places_of: dict[int, tuple[int, ...]] = {}
        self._readings: dict[Counts, Reading] = {}
        self.tallies = Tallies()

    def know(self, checks: Iterable[Check]) -> None:
        """Gives out the bits of these checks, in this order."""
        for check in checks:
            self.bit(check)

    def bit(self, check: Check) -> int:
        """The bit of a check, given out when it is first met; above 32 checks the last bit is shared."""
        found = self._bit_of.get(check)
        if found is None:
            found = 1 << min(len(self.checks), FIRST_RESOURCE - 1)
            self._bit_of[check] = found
            self.checks.append(check)
            if check.code == UNRESOLVABLE:
                self.unresolvable |= found
        return found

    def resource_bit(self, place: int) -> int:
        """The bit of a resource, given out when it is first asked for."""
        found = self._bit_of_place.get(place)
        if found is None:
            found = self._bit_of_place[place] = 1 << min(FIRST_RESOURCE + len(self._bit_of_place), 63)
            self._places_of.clear()  # the last bit may mean one more
            self._readings.clear()
        return found

    def failed(self, code: int) -> tuple[Check, ...]:
        """The checks in a code: resources first, then in the order of the policy."""
        found = self._checks_of.get(code)
        if found is None:
            short = [self._short(place) for place in self.places(code)]
            other = [check for check in self.checks if code & self._bit_of[check]]
            found = self._checks_of[code] = (*short, *other)
        return found

    def obstacles(self, code: int) -> tuple[Check, ...]:
        """The checks in a code, each obstacle once: those that another of them says again are left out."""
        found = self._obstacles_of.get(code)
        if found is None:
            found = self.failed(code)
            again = {check.again for check in found if check.again}
            if again:
                found = tuple([check for check in found if check.name not in again])
            self._obstacles_of[code] = found
        return found

    def reasons(self, code: int) -> frozenset[str]:
        """What the checks in a code stand for."""
        found = self._reasons_of.get(code)
        if found is None:
            found = self._reasons_of[code] = frozenset(check.reason for check in self.failed(code))
        return found

    def _short(self, place: int) -> Check:
        name = self.axis.names[place]
        return Check(f"NodeResourcesFit/{name}", UNSCHEDULABLE, f"Insufficient {name}", reasons.INSUFFICIENT_RESOURCE)

    def places(self, code: int) -> tuple[int, ...]:
        """Resources that are short in a code."""
        found = self._places_of.get(code)
        if found is None:
            found = self._places_of[code] = tuple(
                sorted(each for each, bit in self._bit_of_place.items() if code & bit)
            )
        return found

    def reading(self, counts: Counts) -> Reading:
        """What counts say by themselves."""
        found = self._readings.get(counts)
        if found is None:
            found = self._readings[counts] = readings.read(self, counts)
        return found

    def as_volcano(self, code: int) -> tuple[Check, ...]:
        """What Volcano records of a node: the first short resource alone; else checks up to the first unresolvable one.

        Of checks of one name, which are one filter there, only the first.
        """
        failed = self.failed(code)
        if code & RESOURCES:
            return failed[:1]
        said: dict[str, Check] = {}
        for check in failed:
            if check.name not in said:
                said[check.name] = check
                if check.code == UNRESOLVABLE:
                    break
        return tuple(said.values())

    def never(self, codes: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Where Volcano's record of a node has a check that no eviction cures."""
        plain, cured = (codes & np.uint64(RESOURCES)) == 0, (codes & np.uint64(self.unresolvable)) == 0
        found: npt.NDArray[np.bool_] = plain & ~cured
        return found

"""All that can be reached from an object, taken down bit by bit, so that two moments can be compared.

Arrays count with type, shape and bytes, floats with all their digits, dictionaries and sets whatever their order. Objects
are told apart by identity: the same object with another content is a difference at its class and attribute.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

_CODE = (type, FunctionType, MethodType, ModuleType)
Place = tuple[str, int, str]
"""Class, identity and attribute."""


def of(thing: Any) -> dict[Place, object]:
    """Every attribute of every object that can be reached."""
    found: dict[Place, object] = {}
    seen = {id(thing)}
    waiting = [thing]
    while waiting:
        here = waiting.pop()
        for name, value in _attributes(here):
            found[type(here).__name__, id(here), name] = _taken(value, seen, waiting)
    return found


def differences(before: dict[Place, object], after: dict[Place, object]) -> set[tuple[str, str]]:
    """Class and attribute of all that is not the same; objects that were not there before count for nothing."""
    return {(place[0], place[2]) for place, value in before.items() if after.get(place) != value}


def declared(each: type) -> tuple[str, ...]:
    """The slots of a class; of a compiled one what it has in their place."""
    own = vars(each)
    return (*own.get("__slots__", ()), *own.get("__mypyc_attrs__", ()))


def _attributes(thing: Any) -> Iterator[tuple[str, Any]]:
    names = [name for each in type(thing).__mro__ for name in declared(each)]
    names += getattr(thing, "__struct_fields__", ())
    for name in names:
        if hasattr(thing, name):
            yield name, getattr(thing, name)
    yield from getattr(thing, "__dict__", {}).items()


def _taken(value: Any, seen: set[int], waiting: list[Any]) -> object:
    """A value as something that can be compared; objects in it are named, and taken down by themselves."""
    if value is None or isinstance(value, bool | int | float | str | bytes | np.generic):
        return (type(value).__name__, repr(value))
    if isinstance(value, np.ndarray):
        return (str(value.dtype), value.shape, value.tobytes())
    if isinstance(value, dict):
        return {_taken(key, seen, waiting): _taken(each, seen, waiting) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return tuple(_taken(each, seen, waiting) for each in value)
    if isinstance(value, set | frozenset):
        return frozenset(_taken(each, seen, waiting) for each in value)
    if not isinstance(value, _CODE) and id(value) not in seen:
        seen.add(id(value))
        waiting.append(value)
    return (type(value).__name__, id(value))

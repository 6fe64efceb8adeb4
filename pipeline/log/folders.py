"""What the parts of one process share about a log: one object for each folder, alive as long as somebody holds it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

T = TypeVar("T")


class Shared(Generic[T]):
    """The objects by folder; however a folder's path is written, it is the same one."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: WeakValueDictionary[Path, T] = WeakValueDictionary()
        self._guard = threading.Lock()

    def of(self, directory: Path) -> T:
        """The object of a folder, made when nobody holds one."""
        key = directory.resolve()
        with self._guard:
            found = self._made.get(key)
            if found is None:
                found = self._made[key] = self._make()
            return found

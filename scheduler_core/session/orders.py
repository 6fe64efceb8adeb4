"""Orders of jobs, queues and tasks, and the heap that actions take them from.

A plugin says an order as a key, smaller first; the keys of all plugins, in the order of tiers, and the fallback (age,
then name) make one key. Keys are made when something enters a heap, which is cheap, and made again when it comes out:
if what it stands for has moved meanwhile it goes back in. Whatever is being released may move anything, so then the
heap is built anew. Where all plugins say that a job's key is moved by its own tasks alone (`Plugin.steady`), jobs that
wait in a line need no second key.
"""

from __future__ import annotations

import bisect
import functools
import heapq
import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from scheduler_core.model.jobs import Job, Queue
from scheduler_core.model.tasks import Task

if TYPE_CHECKING:
    from scheduler_core.session.session import Session

T = TypeVar("T")
Key = Any
"""A tuple. Plug-ins fill it with what they like, so comparing two may answer anything with a truth value: numpy's, say."""
_KEY: Final = operator.itemgetter(0)


class Orders:
    """The orders of a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._job = session.flat("job_order")
        self._queue = session.flat("queue_order")
        self._task = session.flat("task_order")
        self._task_key = _task_key(self._task)
        self._victim_queue = session.flat("victim_queue_order")

    # --- keys --------------------------------------------------------------------------------------------------------

    def job_keys(self, job: Job) -> Key:
        """What the plugins say of a job, without fallback."""
        return tuple(key(job) for key in self._job)

    def job(self, job: Job) -> Key:
        found = [key(job) for key in self._job]
        found.append(job.created_ns)
        found.append(job.uid)
        return tuple(found)

    def queue(self, queue: Queue) -> Key:
        found = [key(queue) for key in self._queue]
        found.append(queue.created_ns)
        found.append(queue.name)
        return tuple(found)

    def task_keys(self, task: Task) -> Key:
        return tuple(key(task) for key in self._task)

    def compare_tasks(self, one: Task, other: Task) -> int:
        """Below zero: `one` comes first. Tasks numbered alike in their names go by number, then by age, then by uid."""
        return (
            _compare(self.task_keys(one), self.task_keys(other))
            or (0 if one.number is None or other.number is None else one.number - other.number)
            or _compare((one.created_ns, one.uid), (other.created_ns, other.uid))
        )

    def sorted_tasks(self, tasks: Iterable[Task]) -> list[Task]:
        """Tasks, first first."""
        return self.in_order(list(tasks))

    def in_order(self, found: list[Task]) -> list[Task]:
        """The same of a list, which may be changed for it."""
        if len(found) < 2:
            return found
        numbered = 0
        for task in found:
            if task.number is not None:
                numbered += 1
        if numbered == len(found) and self._as_numbered(found):
            return found
        if numbered in (0, len(found)):
            found.sort(key=self._task_key)
            return found
        found.sort(key=lambda task: (task.created_ns, task.uid))
        return sorted(found, key=functools.cmp_to_key(self.compare_tasks))

    def _as_numbered(self, tasks: list[Task]) -> bool:
        """Whether plugins say the same of all tasks, which go up by the numbers in their names: then they are in order."""
        before = -1
        for task in tasks:
            number = task.number
            if number is None or number <= before:
                return False
            before = number
        for key in self._task:
            first = key(tasks[0])
            for task in tasks:
                if key(task) != first:
                    return False
        return True

    # --- victims -------------------------------------------------------------------------------------------------------

    def compare_victim_queues(self, one: Queue, other: Queue, preemptor: Queue) -> int:
        """Below zero: `one` loses first. Nobody says anything: the queue that sorts last."""
        for ask in self._victim_queue:
            answer = ask(one, other, preemptor)
            if answer:
                return -1 if answer < 0 else 1
        return -_compare(self.queue(one), self.queue(other))

    def compare_victims(self, one: Task, other: Task, preemptor: Task) -> int:
        """Below zero: `one` is evicted first."""
        if one.job is other.job:
            return -self.compare_tasks(one, other)
        if one.job is None or other.job is None:
            return (one.job is not None) - (other.job is not None)
        if preemptor.job is not None and one.job.queue is not other.job.queue:
            return self.compare_victim_queues(one.job.queue, other.job.queue, preemptor.job.queue)
        return -_compare(self.job_keys(one.job), self.job_keys(other.job)) or -self.compare_tasks(one, other)

    def sorted_victims(self, victims: Iterable[Task], preemptor: Task) -> list[Task]:
        """Victims, first to go first, as things stand."""

        def compare(one: Task, other: Task) -> int:
            return self.compare_victims(one, other, preemptor)

        return sorted(victims, key=functools.cmp_to_key(compare))

    def lowest_first(self, tasks: Iterable[Task]) -> list[Task]:
        """Candidates in the order in which plugins see them: those that would be scheduled last come first."""
        return self.sorted_tasks(tasks)[::-1]

    # --- heaps -----------------------------------------------------------------------------------------------------------

    def job_heap(self, jobs: Iterable[Job] = ()) -> Heap[Job]:
        if self.session.steady:
            return Line(self.session, self.job, jobs)
        return Heap(self.session, self.job, jobs)

    def queue_heap(self, queues: Iterable[Queue] = ()) -> Heap[Queue]:
        return Heap(self.session, self.queue, queues)

    # --- heaps of those whose order evictions change ------------------------------------------------------------------------

    def live_jobs(self, jobs: Iterable[Job]) -> LiveHeap[Job]:
        return LiveHeap(sorted(jobs, key=self.job), lambda one, other: self.job(one) < self.job(other))

    def live_queues(self, queues: Iterable[Queue]) -> LiveHeap[Queue]:
        return LiveHeap(sorted(queues, key=self.queue), lambda one, other: self.queue(one) < self.queue(other))

    def live_victims(self, victims: Iterable[Task], preemptor: Task) -> LiveHeap[Task]:
        """Victims that are evicted as they are taken."""
        first = self.sorted_victims(victims, preemptor)
        return LiveHeap(first, lambda one, other: self.compare_victims(one, other, preemptor) < 0)


class Heap(Generic[T]):
    """Takes the first by its order as it is now."""

    def __init__(self, session: Session, key: Callable[[T], Key], items: Iterable[T]) -> None:
        self._session = session
        self._key = key
        self._heap: list[tuple[Key, T]] = [(key(item), item) for item in items]
        heapq.heapify(self._heap)
        self._releases = session.releases

    def __len__(self) -> int:
        return len(self._heap)

    def __bool__(self) -> bool:  # spelled out here and below: compiled code takes an object without it for true
        return bool(self._heap)

    def push(self, item: T) -> None:
        heapq.heappush(self._heap, (self._key(item), item))

    def pop(self) -> T:
        """The first. Raises IndexError when there is none."""
        if self._releases != self._session.releases:
            self._releases = self._session.releases
            self._heap = [(self._key(item), item) for _, item in self._heap]
            heapq.heapify(self._heap)
        while True:
            key, item = heapq.heappop(self._heap)
            now = self._key(item)
            if now == key or not self._heap or now <= self._heap[0][0]:
                return item
            heapq.heappush(self._heap, (now, item))

    def take(self) -> T | None:
        """The first; None when there is none."""
        return self.pop() if len(self) else None

    def next(self, item: T) -> T:
        """Puts back what was taken last, and takes the first: often the same, which then needs not go through the heap."""
        if self._releases == self._session.releases:
            now = self._key(item)
            if not self._heap or now <= self._heap[0][0]:
                return item
            heapq.heappush(self._heap, (now, item))
        else:
            self.push(item)
        return self.pop()


class Line(Heap[T]):
    """The same where nothing but what is done with an item itself, or a release, changes its place."""

    def __init__(self, session: Session, key: Callable[[T], Key], items: Iterable[T]) -> None:
        self._session = session
        self._key = key
        self._heap = [(key(item), item) for item in items]
        self._heap.sort(key=_KEY)  # no two keys are equal: the last part is the name
        self._taken = 0
        self._releases = session.releases

    def __len__(self) -> int:
        return len(self._heap) - self._taken

    def __bool__(self) -> bool:
        return len(self._heap) > self._taken

    def push(self, item: T) -> None:
        bisect.insort(self._heap, (self._key(item), item), self._taken)

    def pop(self) -> T:
        """The first. Raises IndexError when there is none."""
        if self._releases != self._session.releases:
            self._releases = self._session.releases
            self._heap = [(self._key(item), item) for _, item in self._heap[self._taken :]]
            self._heap.sort(key=_KEY)
            self._taken = 0
        found = self._heap[self._taken][1]
        self._taken += 1
        return found


class LiveHeap(Generic[T]):
    """Takes items one by one while what is done with each may change the order of the others.

    Volcano keeps them in Go's `container/heap`, which compares items as they stand whenever it moves one and at no other
    time, and so does this, step by step: taking one already chooses the next, before anything is done with the first.
    """

    def __init__(self, items: list[T], less: Callable[[T, T], Any]) -> None:
        """`items` in order; the heap takes the list over."""
        self._items = items
        self._less = less

    def __len__(self) -> int:
        return len(self._items)

    def __bool__(self) -> bool:
        return bool(self._items)

    def push(self, item: T) -> None:
        items = self._items
        items.append(item)
        at = len(items) - 1
        while at and self._less(items[at], items[(at - 1) // 2]):
            above = (at - 1) // 2
            items[at], items[above] = items[above], items[at]
            at = above

    def pop(self) -> T:
        """The one that was chosen last. Raises IndexError when there is none."""
        items = self._items
        items[0], items[-1] = items[-1], items[0]
        found = items.pop()
        at, below = 0, 1
        while below < len(items):
            if below + 1 < len(items) and self._less(items[below + 1], items[below]):
                below += 1
            if not self._less(items[below], items[at]):
                break
            items[at], items[below] = items[below], items[at]
            at, below = below, 2 * below + 1
        return found


def _task_key(asked: list[Callable[[Task], Any]]) -> Callable[[Task], Key]:
    """The whole key of a task, among tasks that are all numbered or all not."""
    if len(asked) == 1:
        only = asked[0]
        return lambda task: (only(task), task.number or 0, task.created_ns, task.uid)
    return lambda task: (*[key(task) for key in asked], task.number or 0, task.created_ns, task.uid)


def _compare(one: Key, other: Key) -> int:
    return -1 if one < other else int(other < one)


def compare_keys(one: Key, other: Key) -> int:
    """-1, 0 or 1."""
    return _compare(one, other)

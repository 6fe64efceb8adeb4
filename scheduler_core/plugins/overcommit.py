"""overcommit: the whole cluster lets in somewhat more than it has free, so that jobs stand ready when room comes.

What may be let in is the cluster times `overcommit-factor` (default 1.2; below 1 counts as 1.2) without what is used.
Groups that were let in are charged their whole minimum resources, also what they hold already; Running ones only what
they have not taken.
"""

from __future__ import annotations

from typing import Final

from pipeline.records import reasons
from scheduler_core.model.jobs import Job
from scheduler_core.model.resources import Resource
from scheduler_core.model.why import Over, Why
from scheduler_core.session import accounts, arguments
from scheduler_core.session.combine import PERMIT, Vote, reject
from scheduler_core.session.plugin import Plugin
from scheduler_core.session.session import Session

ARGUMENT: Final = "overcommit-factor"
DEFAULT_FACTOR: Final = 1.2


class Overcommit(Plugin):
    name = "overcommit"
    arguments_known = (ARGUMENT,)

    def open(self, session: Session) -> None:
        self.axis = session.axis
        factor = arguments.number(self.arguments, ARGUMENT, DEFAULT_FACTOR)
        self.factor = DEFAULT_FACTOR if factor < 1 else factor
        self.used = session.nodes.used
        self.most = session.total.scaled(self.factor)
        self.idle = self.most.beyond(self.used)
        self.inqueue = accounts.ledger_of(session.snapshot).let_in()

    def job_enqueueable(self, job: Job) -> Vote:
        if job.min_resources is None:
            return PERMIT
        future = self.inqueue.copy().add(job.min_resources)
        places = future.exceeding(self.idle, job.min_resources)
        if not places:
            return PERMIT
        worst = max(places, key=lambda place: (place > 1, -place))
        names = ", ".join(f"overused {self.axis.names[place]}" for place in places)
        over = tuple(self._over(place, job.min_resources, future) for place in places)
        return reject(
            Why(
                reasons.QUOTA, "cluster_enqueue_limit", self.axis.names[worst],
                f"resource in cluster is overused: {names}", self.name,
                asked=self.axis.whole(worst, job.min_resources.values[worst]),
                used=self.axis.whole(worst, self.inqueue.values[worst]),
                limit=self.axis.whole(worst, self.idle.values[worst]), over=over,
            )
        )  # fmt: skip

    def _over(self, place: int, asked: Resource, future: Resource) -> Over:
        whole, others = self.axis.whole, self.inqueue.values[place] + self.used.values[place]
        over = self.axis.counted(place, future.values[place] + self.used.values[place] - self.most.values[place])
        return Over(self.axis.names[place], whole(place, over), whole(place, asked.values[place]), whole(place, others))

    def job_enqueued(self, job: Job) -> None:
        if job.min_resources is not None:
            self.inqueue.add(accounts.minimum(job))

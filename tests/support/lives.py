"""Random lives of jobs: every order of what can happen to one, likely or not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from pipeline.records.objects import Facts, NodesWanted
from tests.support import replayed
from tests.support.story import BATCH, NATIVE_GROUP, VOLCANO, VOLCANO_GROUP, Story

TEXTS = (
    "0/8 nodes are available: 8 Insufficient nvidia.com/gpu.",
    "0/8 nodes are available: 3 Insufficient cpu, 5 Insufficient memory.",
    "0/8 nodes are available: 1 node(s) were unschedulable, 7 node(s) didn't match Pod's node affinity/selector.",
    "0/8 nodes are available: 8 node(s) had untolerated taint(s). preemption: 0/8 nodes are available: "
    "8 Preemption is not helpful for scheduling.",
    "0/8 nodes are available: 2 node(s) didn't match pod anti-affinity rules, 6 Insufficient cpu. preemption: "
    "0/8 nodes are available: 8 No preemption victims found for incoming pod.",
    "0/8 nodes are available: pod has unbound immediate PersistentVolumeClaims. not found",
    "0/8 nodes are available: 8 Insufficient cpu. preemption: found a potential placement for pod on node n1, "
    "preempting 2 victims",
    "pod group is unschedulable, minCount (2) cannot be satisfied: 1 scheduled, 0 remaining",
    "pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable",
    "pod group is not ready, 2 Pending, 2 minAvailable; Pending: 2 Unschedulable. Origin reason is w: "
    "0/8 nodes are unavailable: 8 Insufficient nvidia.com/gpu.",
    "Pod team-a/w can possibly be assigned to n1, once resource is released and minAvailable is satisfied",
    "Pod team-a/w can possibly be assigned to n1, once minAvailable is satisfied",
    "nobody has ever read this text",
)
REFUSALS = (
    "resource in cluster is overused: overused nvidia.com/gpu",
    "queue resource quota insufficient: insufficient cpu",
    "0/0 tasks in gang unschedulable: pod group is not ready, 2 minAvailable",
)
WANTED = (
    None, NodesWanted(), NodesWanted(4, 4), NodesWanted(2, unschedulable=2), NodesWanted(2, not_ready=1, tainted=1),
    NodesWanted(3, tainted=3), NodesWanted(5, 1, 1, 1, 2),
)  # fmt: skip
PAUSES_MS = (0, 3, 400, 900, 1700, 6000, 61_000)
ROOTS = ("batch", "volcano", "gang", "volcano gang", "pod")


class Life:
    """Draws what happens next and tells it to a story."""

    def __init__(self, draw: Any, name: str, *, blind: bool = False) -> None:
        self.draw = draw
        self.blind = blind
        self.root = draw(st.sampled_from(ROOTS))
        kind, group = {
            "batch": ("Job", BATCH), "volcano": ("Job", VOLCANO), "gang": ("PodGroup", NATIVE_GROUP),
            "volcano gang": ("PodGroup", VOLCANO_GROUP), "pod": ("Pod", ""),
        }[self.root]  # fmt: skip
        self.story = Story(kind, group, name)
        self.size = draw(st.integers(1, 3))
        self.made = 0
        self.alive = True

    def live(self, steps: int) -> Story:
        if self.root == "pod":
            self.story.pod(self.story.job.name)
        elif self.draw(st.booleans()):
            self.birth()
        for _ in range(steps):
            self.story.after(self.draw(st.sampled_from(PAUSES_MS)))
            self.draw(st.sampled_from(self.possible()))()
            if self.draw(st.integers(0, 9)) == 0:
                self.story.tick()
        if not self.story.records:
            self.birth()
        return self.story

    def possible(self) -> list[Any]:
        story, options = self.story, [self.copy, self.decide]
        pods = [name for name in story.objects if self.is_pod(name)]
        if self.root != "pod" and len(pods) < 4:
            options += [self.new_pod] * 3
        if pods:
            options += [
                self.say,
                self.say,
                self.fact,
                self.bind,
                self.bind,
                self.run,
                self.succeed,
                self.fail,
                self.ask,
                self.drop,
            ]
            options += [self.lift, self.said_by_event]
        if self.root != "pod" and story.job.name not in story.objects and self.alive:
            options += [self.birth] * 6
        if self.root in ("volcano", "volcano gang"):
            options += [self.group, self.group, self.refuse, self.queue]
        if self.root == "batch" and story.job.name in story.objects:
            options += [self.suspend, self.finish, self.resize]
        if story.job.name in story.objects and self.root != "pod":
            options += [self.delete_job]
        return options

    def is_pod(self, name: str) -> bool:
        return self.story._kinds[name] == ("Pod", "")

    def a_pod(self) -> str:
        return str(self.draw(st.sampled_from([name for name in self.story.objects if self.is_pod(name)])))

    def waits(self, name: str) -> bool:
        return "nodeName" not in self.story.objects[name]["spec"]

    def sight(self) -> dict[str, Any]:
        if not self.blind or self.draw(st.integers(0, 5)):
            return {}
        return {"synthetic": True, "unseen_since": self.story.now - self.draw(st.sampled_from((500, 4000, 90_000)))}

    def birth(self) -> None:
        story, size = self.story, self.size
        if self.root == "batch":
            story.batch_job(parallelism=size, annotations={"sla-waiting-time": "8s"}, **self.sight())
        elif self.root == "volcano":
            story.volcano_job(minimum=size)
        elif self.root == "gang":
            story.native_group(minimum=self.draw(st.sampled_from((None, size))))
        else:
            story.volcano_group(minimum=size, annotations={"sla-waiting-time": "20s"})

    def new_pod(self) -> None:
        self.made += 1
        spec = {"schedulingGroup": {"podGroupName": self.story.job.name}} if self.root == "gang" else {}
        notes = {"scheduling.k8s.io/group-name": "g"} if self.root == "volcano gang" else {}
        gates = ("hold",) if self.draw(st.integers(0, 4)) == 0 else ()
        self.story.pod(f"p{self.made}", spec=spec, annotations=notes, gates=gates, **self.sight())

    def say(self) -> None:
        name = self.a_pod()
        if self.waits(name):
            nominated = self.draw(st.sampled_from((None, "n1", "")))
            wanted = self.draw(st.sampled_from(WANTED))
            self.story.pod(
                name, text=self.draw(st.sampled_from(TEXTS)), wanted=wanted, nominated=nominated, **self.sight()
            )

    def said_by_event(self) -> None:
        self.story.event(self.a_pod(), "FailedScheduling", self.draw(st.sampled_from(TEXTS)))

    def fact(self) -> None:
        missing = self.draw(st.integers(0, 3)) == 0
        self.story.fact(self.a_pod(), Facts(nodes_wanted=self.draw(st.sampled_from(WANTED)), claim_missing=missing))

    def lift(self) -> None:
        self.story.pod(self.a_pod(), gates=())

    def bind(self) -> None:
        self.story.pod(self.a_pod(), node="n1", gates=(), **self.sight())

    def run(self) -> None:
        name = self.a_pod()
        if not self.waits(name) and self.story.objects[name]["status"].get("phase") == "Pending":
            self.story.pod(name, phase="Running")

    def succeed(self) -> None:
        name = self.a_pod()
        if not self.waits(name) and self.story.objects[name]["status"].get("phase") != "Failed":
            self.story.pod(name, phase="Succeeded", **self.sight())

    def fail(self) -> None:
        name = self.a_pod()
        if not self.waits(name) and self.story.objects[name]["status"].get("phase") != "Succeeded":
            self.story.pod(name, phase="Failed", **self.sight())

    def ask(self) -> None:
        name = self.a_pod()
        if "deletionTimestamp" not in self.story.objects[name]["metadata"]:
            if self.draw(st.booleans()) and not self.waits(name):
                disrupted = self.story._condition("DisruptionTarget", "True", "PreemptionByScheduler", "")
                self.story.put("Pod", "", name, status={"conditions": [disrupted]})
            self.story.pod(name, deleting=self.draw(st.sampled_from((0, 30))))

    def drop(self) -> None:
        name = self.a_pod()
        if self.blind and self.draw(st.booleans()):
            self.story.vanished(name, self.story.now - 5000)
        else:
            self.story.gone(name)

    def group(self) -> None:
        runs = any(self.is_pod(name) and not self.waits(name) for name in self.story.objects)
        phase = self.draw(st.sampled_from((None, "Pending", "Inqueue", "Running" if runs else "Inqueue")))
        name = self.story.job.name if self.root == "volcano gang" else "g"
        self.story.volcano_group(minimum=self.size, phase=phase, name=name)

    def refuse(self) -> None:
        groups = [
            name for name, kind in self.story._kinds.items() if kind[0] == "PodGroup" and name in self.story.objects
        ]
        if groups:
            self.story.event(groups[0], "Unschedulable", self.draw(st.sampled_from(REFUSALS)))

    def queue(self) -> None:
        groups = [
            name for name, kind in self.story._kinds.items() if kind[0] == "PodGroup" and name in self.story.objects
        ]
        if groups:
            facts = self.draw(st.sampled_from(({}, {}, {"state": "Closed"}, {"exists": False, "state": None})))
            self.story.fact(groups[0], self.story.queue(**facts))

    def suspend(self) -> None:
        on = not self.story.objects[self.story.job.name]["spec"].get("suspend")
        stopped = self.story._condition("Suspended", str(on), "", "")
        self.story.put(
            "Job", BATCH, self.story.job.name, spec={"suspend": on}, status={"conditions": [stopped]}, **self.sight()
        )

    def resize(self) -> None:
        size = self.draw(st.integers(1, 4))
        spec = {"parallelism": size, "completions": size}
        self.story.put("Job", BATCH, self.story.job.name, spec=spec, **self.sight())

    def finish(self) -> None:
        type_ = self.draw(st.sampled_from(("Complete", "Failed")))
        ended = self.story._condition(type_, "True", "", "")
        self.story.put("Job", BATCH, self.story.job.name, status={"conditions": [ended]}, **self.sight())

    def delete_job(self) -> None:
        self.alive = False
        self.story.gone(self.story.job.name)

    def decide(self) -> None:
        pods = [name for name in self.story.objects if self.is_pod(name)]
        task = self.draw(st.sampled_from((None, *pods)))
        kind = self.draw(st.sampled_from(("attribution", "attribution", "enqueue", "pipeline", "bind", "diverged")))
        reason = self.draw(st.sampled_from(("fragmentation", "outranked", "quota", None)))
        self.story.decision(kind, task=task, reason=reason)

    def copy(self) -> None:
        records = self.story.records
        if records:
            again = records[-1 - self.draw(st.integers(0, min(2, len(records) - 1)))]
            self.story.log.append(replayed.Logged(self.story.now, again))


@st.composite
def lives(draw: Any, *, name: str = "train", blind: bool = False, steps: int = 25) -> Story:
    """A job's life of some records."""
    return Life(draw, name, blind=blind).live(draw(st.integers(1, steps)))

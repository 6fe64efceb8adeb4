"""The rows that a job's waits make, and the fewer ones that are written."""

from collections import Counter

from pipeline.records import times
from pipeline.records.objects import NodesWanted
from pipeline.records.tables import TABLES
from tests.support.story import BEGIN_MS, VOLCANO, Story

HOUR = times.HOUR_MS
SHORT = "0/8 nodes are available: 8 Insufficient nvidia.com/gpu."
OPEN = NodesWanted(total=8, open=8)
GPU_POD = {
    "containers": [
        {"name": "m", "resources": {"limits": {"nvidia.com/gpu": "2"}, "requests": {"cpu": "500m", "memory": "1Gi"}}}
    ]
}


def hours(told):
    """Hours since the begin and resource → waiting."""
    rows = told.judged.tables.get("wait_reason_hour", {}).values()
    return {((row["hour"] - BEGIN_MS) // HOUR, row["resource"]): row["wait_ms"] for row in rows}


def waiting(ms):
    story = Story().batch_job().pod("a", text=SHORT, wanted=OPEN, spec=dict(GPU_POD))
    while story.now < BEGIN_MS + ms:
        story.tick(5000)
    return story


def test_every_row_has_every_column_of_its_table():
    told = waiting(10_000).after(10).pod("a", node="n").tell()
    for table, rows in told.judged.tables.items():
        for values in rows.values():
            missing = {column.name for column in TABLES[table].columns} - set(values) - {"version"}
            assert not missing, f"{table}: {missing}"
            assert not set(values) - {column.name for column in TABLES[table].columns}


def test_the_hours_of_a_wait_add_up_to_it():
    assert BEGIN_MS % HOUR == 0
    story = Story().batch_job().pod("a", text=SHORT, wanted=OPEN).after(HOUR - 20_000).tick()
    story.pod("a", text="0/8 nodes are available: 8 Insufficient cpu.").after(HOUR + 50_000).pod("a", node="n")
    told = story.tell()
    assert sum(hours(told).values()) == told.wait["wait_ms"] == 2 * HOUR + 30_000
    assert hours(told) == {
        (0, "nvidia.com/gpu"): HOUR - 20_000,
        (0, "cpu"): 20_000,
        (1, "cpu"): HOUR,
        (2, "cpu"): 30_000,
    }


def test_waiting_gpus_are_waiting_times_the_gpus_that_the_job_asks_for():
    told = waiting(60_000).tell()
    (row,) = told.judged.tables["wait_reason_hour"].values()
    assert row["gpu_ms"] == 2 * row["wait_ms"] > 0
    assert (told.wait["gpus"], told.wait["cpus_milli"], told.wait["memory_bytes"]) == (2, 500, 2**30)


def test_rows_of_an_open_wait_are_refreshed_once_a_minute():
    written = [row for row in waiting(600_000).tell().judged.written if row.table == "job_wait"]
    assert 10 <= len(written) <= 12
    assert [row.values["wait_ms"] for row in written] == sorted(row.values["wait_ms"] for row in written)


def test_an_hours_rows_are_final_when_it_ends():
    story = Story().after(HOUR - 30_000).batch_job().pod("a", text=SHORT, wanted=OPEN)
    for _ in range(12):
        story.tick(5000)
    written = [row for row in story.tell().judged.written if row.table == "wait_reason_hour"]
    first = [row for row in written if row.values["hour"] == BEGIN_MS]
    assert first[-1].values["wait_ms"] == 30_000
    assert first[-1].version < BEGIN_MS + HOUR + 5_000, "written at the end of the hour, not a minute later"


def test_all_changes_of_a_second_go_out_in_one():
    story = Story().batch_job()
    for place in range(5):
        story.after(20).pod(f"p{place}")
    story.after(10).pod("p0", node="n")
    written = Counter(row.table for row in story.tell().judged.written)
    assert written["job_wait"] == 1


def test_records_that_change_nothing_write_nothing():
    story = Story().batch_job().after(10).pod("a", node="n").tick(2000)
    before = len(story.tell().judged.written)
    for _ in range(5):
        story.after(1500).put("Pod", "", "a", status={"message": str(story.now)})
    assert len(story.tell().judged.written) == before


def test_segments_that_are_no_longer_produced_are_removed():
    story = Story().batch_job().after(10).pod("a", text=SHORT, wanted=OPEN).after(5000)
    bound = story._condition("PodScheduled", "True", "", "")
    story.after(3000).pod("a", text="0/8 nodes are available: 8 Insufficient cpu.").after(3000).tick()
    assert len(story.tell().segments) == 2
    story.objects["a"]["spec"]["nodeName"] = "n"
    story.objects["a"]["status"]["conditions"] = [bound]
    told = story.put("Pod", "", "a").tell()
    assert len(told.segments) == 1
    assert any(row.deleted and row.table == "wait_segment" for row in told.judged.written)
    assert sum(hours(told).values()) == told.wait["wait_ms"], "the hours lose what was too much"


def test_the_day_is_that_of_the_jobs_creation_and_never_changes():
    story = Story().batch_job().pod("a", text=SHORT)
    for _ in range(30):
        story.tick(HOUR)
    told = story.pod("a", node="n").after(10).pod("a", phase="Failed").tell()
    days = {values["day"] for rows in told.judged.tables.values() for values in rows.values()}
    assert days == {times.day_ms(BEGIN_MS)}


def test_the_leading_reason_is_the_one_that_held_longest():
    story = Story().batch_job().after(4000).pod("a", text=SHORT, wanted=OPEN).after(6000).pod("a", node="n")
    wait = story.tell().wait
    assert (wait["leading_reason"], wait["leading_resource"], wait["leading_share"]) == (
        "insufficient_resource",
        "nvidia.com/gpu",
        0.6,
    )


def test_tenant_and_queue_that_are_learned_later_reach_every_row():
    story = Story(group=VOLCANO).volcano_job().tick(5000)
    story.volcano_group(facts=story.queue()).after(5000)
    told = story.tell()
    for table in ("job_wait", "wait_segment", "wait_reason_hour"):
        assert {(row["tenant"], row["queue"]) for row in told.judged.tables[table].values()} == {("vision", "main")}


def test_what_a_job_asks_for_is_told_by_its_object_or_by_its_pods():
    story = Story(group=VOLCANO)
    task = {"name": "w", "replicas": 3, "template": {"spec": dict(GPU_POD)}}
    story.put("Job", VOLCANO, "train", spec={"minAvailable": 2, "tasks": [task], "priorityClassName": "high"})
    wait = story.tell().wait
    assert (wait["tasks"], wait["minimum"], wait["gpus"], wait["priority_class"]) == (3, 2, 6, "high")
    story = Story("PodGroup", "scheduling.k8s.io", "gang").native_group(minimum=2)
    story.pod("a", spec=dict(GPU_POD)).pod("b", spec=dict(GPU_POD)).pod("a", deleting=0).gone("a").pod(
        "c", spec=dict(GPU_POD)
    )
    wait = story.tell().wait
    assert (wait["tasks"], wait["gpus"]) == (2, 4), "a replacement is not counted twice"

"""What a scheduler sees of a job, from its decisions."""

from __future__ import annotations

from dashboards import decisions
from pipeline.records.decisions import Decision, FailureSet

START = 1_767_225_600_000
LACK = FailureSet(("NodeResourcesFit/nvidia.com/gpu",), 12)
TAINT = FailureSet(("TaintToleration",), 5)
BOTH = FailureSet(("NodeResourcesFit/nvidia.com/gpu", "TaintToleration"), 3)


def made(second, kind="attribution", **more):
    values = {"source": "shadow", "policy": "volcano", "session_ms": START + 1000 * second, "kind": kind}
    return Decision(**values | ({"reason": "insufficient_resource"} if kind == "attribution" else {}) | more)


def told(*decided, lang="en"):
    return decisions.told(lang, decisions.standing(decided, START), "q")


def test_nodes_are_counted_by_the_set_of_checks_that_they_fail():
    sees = told(made(1, failure_sets=(TAINT, LACK, BOTH), nodes=15, total_nodes=20))
    assert sees.sentence == (
        "12 of 20 nodes lack nvidia.com/gpu, 5 have an untolerated taint, "
        "3 lack nvidia.com/gpu and have an untolerated taint."
    )
    assert [(each.nodes, each.text, each.reason) for each in sees.node_sets] == [
        (12, "lack nvidia.com/gpu", "insufficient_resource"),
        (5, "have an untolerated taint", "untolerated_taint"),
        (3, "lack nvidia.com/gpu and have an untolerated taint", "insufficient_resource"),
    ]
    assert (sees.nodes, sees.total_nodes, sees.policy, sees.rebuilt) == (15, 20, "volcano", False)


def test_the_last_word_about_the_whole_job_speaks_for_it():
    sees = told(made(3, message="new"), made(1, message="old"), made(5, task="ns/a", message="of a task"))
    assert (sees.message, sees.task) == ("new", None)


def test_without_a_word_about_the_whole_job_the_newest_about_a_task_speaks():
    assert told(made(1, task="ns/a"), made(2, task="ns/b"), made(3, "bind", task="ns/c", node="n")).task == "ns/b"


def test_what_was_taken_back_holds_no_more():
    assert told(made(1), made(2, "discard")) is None
    assert told(made(1, "enqueue", reason="quota"), made(2, "enqueue")) is None
    assert told(made(1, task="ns/a"), made(2, "discard", task="ns/b")).task == "ns/a"


def test_a_refusal_by_quota_is_told_without_nodes():
    sees = told(
        made(1, "enqueue", reason="quota", resource="nvidia.com/gpu", message="queue q: 8 asked, 16 of 16 used")
    )
    assert sees.sentence == "It waits because others use the quota of q (nvidia.com/gpu)."
    assert (sees.node_sets, sees.message) == ([], "queue q: 8 asked, 16 of 16 used")


def test_who_goes_first_is_told_from_the_jobs_own_message():
    message = "0/3 nodes take it; 2 jobs of the queue went before it, ns/first by priority"
    sees = told(made(1, reason="outranked", message=message))
    assert sees.ahead == "2 jobs of the queue went before it, ns/first by priority"
    one = told(made(1, message="x; 1 jobs of the queue went before it, ns/first by priority"))
    assert one.ahead == "1 job of the queue went before it, ns/first by priority"


def test_of_a_message_only_that_is_repeated_which_the_counts_do_not_say():
    counted = made(1, failure_sets=(LACK,), message="2 of 4 placed, then 0/12 nodes take it: 12 Insufficient gpu; 3 places are held for it, unbound, until the session ends")  # fmt: skip
    assert told(counted).more == "2 of 4 placed; 3 places are held for it, unbound, until the session ends"
    assert told(counted, lang="zh").more == "4 个中已放置 2 个; 已为它留出 3 处，未绑定，直到这次调度结束"
    assert told(made(1, reason="quota", message="queue q is full")).more == "queue q is full"
    assert told(made(1, failure_sets=(LACK,), message="0/12 nodes are available: 12 Insufficient gpu.")).more == ""


def test_a_disagreement_takes_everything_back_and_is_told_until_something_new_is_said():
    apart = made(2, "diverged", message="the cluster's scheduler bound ns/a to n1, the shadow had said quota")
    sees = told(made(1), apart)
    assert (sees.kind, sees.sentence, sees.diverged) == ("diverged", apart.message, apart.message)
    assert told(made(1), apart, made(2)).diverged == apart.message
    assert told(made(1), apart, made(3)).diverged is None


def test_a_task_that_would_be_placed_is_told_with_its_node():
    sees = told(made(1), made(2, "discard"), *(made(2, "bind", task=f"ns/{each}", node="n1") for each in "ab"))
    assert sees.sentence == "It would be placed now: ns/b on n1, and 1 more."
    assert told(made(-5, "bind", task="ns/a", node="n1")) is None


def test_a_place_that_no_scheduler_took_yet_is_told_without_a_node():
    sees = told(made(1, task="ns/a"), made(2, "bind", task="ns/a"))
    assert sees.sentence == "There is room for it now: ns/a waits for its scheduler's next try."


def test_of_tasks_that_wait_for_different_reasons_the_most_common_one_speaks():
    sees = told(*(made(1, task=f"ns/{each}", reason="volume") for each in "ab"), made(3, task="ns/c"))
    assert (sees.reason, sees.task) == ("volume", "ns/b")


def test_of_a_gang_the_member_whose_nodes_were_counted_speaks():
    sees = told(made(1, task="ns/a", failure_sets=(LACK,)), made(2, task="ns/b", message="see ns/a"))
    assert sees.sentence == "12 of 12 nodes lack nvidia.com/gpu."


def test_a_live_schedulers_word_comes_before_a_shadows():
    assert told(made(1, source="live", message="live"), made(5, message="shadow")).message == "live"

"""A writer that waits for those who answer in its log."""

import threading

from pipeline.log import steps


def test_without_anybody_who_answers_nobody_waits(tmp_path):
    asking = steps.of(tmp_path)
    assert asking.wait(asking.ask(), 0.0)


def test_a_question_is_waited_for_until_it_is_answered(tmp_path):
    asking = steps.of(tmp_path)
    asking.join("scheduler")
    question = asking.ask()
    assert not asking.wait(question, 0.01)
    asking.answer("scheduler", question - 1)
    assert not asking.wait(question, 0.01)
    threading.Timer(0.02, asking.answer, ("scheduler", question)).start()
    assert asking.wait(question, 60.0)


def test_an_answer_to_a_later_question_answers_the_earlier_ones(tmp_path):
    asking = steps.of(tmp_path)
    asking.join("scheduler")
    first, second = asking.ask(), asking.ask()
    asking.answer("scheduler", second)
    asking.answer("scheduler", first)
    assert asking.wait(first, 0.0) and asking.wait(second, 0.0)


def test_who_leaves_is_not_waited_for_and_who_never_came_answers_nothing(tmp_path):
    asking = steps.of(tmp_path)
    asking.join("scheduler")
    question = asking.ask()
    asking.answer("stranger", question)
    assert not asking.wait(question, 0.0)
    asking.leave("scheduler")
    assert asking.wait(question, 0.0)


def test_a_folder_has_one_set_of_steps(tmp_path):
    asking = steps.of(tmp_path)
    assert steps.of(tmp_path / ".") is asking
    assert steps.of(tmp_path / "other") is not asking

"""How answers are combined; the scenarios hold the tables, here is what they leave open."""

import pytest

from pipeline.records import reasons
from scheduler_core.model.why import Why
from scheduler_core.session import combine
from scheduler_core.session.combine import ABSTAIN, PERMIT

NO = combine.reject(Why(reasons.QUOTA, message="no"))


def saying(*tiers):
    return [[lambda *_, answer=answer: answer for answer in tier] for tier in tiers]


@pytest.mark.parametrize(
    ("tiers", "passed"),
    [
        ((), True),
        (([], []), True),
        (([ABSTAIN], [ABSTAIN]), True),
        (([PERMIT], [NO]), True),
        (([ABSTAIN], [NO]), False),
        (([ABSTAIN], [PERMIT]), True),
        (([PERMIT, NO],), False),
        (([NO, PERMIT],), False),
        (([PERMIT, ABSTAIN], [NO]), True),
    ],
)
def test_a_vote(tiers, passed):
    assert combine.vote(saying(*tiers), "a job").passed is passed


def test_a_vote_in_which_all_abstain_can_be_read_the_other_way_but_nobody_asked_still_passes():
    assert not combine.vote(saying([ABSTAIN], [ABSTAIN]), "a job", all_abstain=False).passed
    assert combine.vote([[], []], "a job", all_abstain=False).passed


def test_a_rejection_says_why_and_every_vote_cast_is_told():
    ballot = combine.vote(saying([PERMIT, ABSTAIN, NO], [PERMIT]), "a job")
    assert ballot.why == NO.why
    assert ballot.cast == (PERMIT, ABSTAIN, NO)
    assert combine.vote(saying([PERMIT]), "a job").why is None


def test_all_of_those_asked_must_agree():
    assert combine.unanimous([])()
    assert combine.unanimous(*saying([True]))()
    assert not combine.unanimous(*saying([True, False]))()


def test_of_tiers_the_first_in_which_anyone_is_asked_decides():
    assert not combine.first_tier_true([[], []])
    assert combine.first_tier_true(saying([], [True], [False]))
    assert not combine.first_tier_true(saying([True, False], [True]))


def test_the_first_answer_given_wins_and_the_rest_is_not_asked():
    asked = []
    tiers = [[lambda: asked.append(1)], [lambda: 7, lambda: asked.append(2)]]
    assert combine.first_given(tiers) == 7
    assert asked == [1]


def test_an_agreement_on_nobody_starts_anew_unless_it_is_final():
    tiers = saying([["a"], ["b"], ["c"]], [["d"]])
    assert combine.victims(tiers) == ["c"]
    assert combine.victims(tiers, empty_is_final=True) == []
    assert combine.victims(saying([["a"], ["b"]], [["d"]])) == ["d"]


def test_victims_keep_the_order_of_the_first_and_an_abstention_counts_for_nothing():
    assert combine.victims(saying([["c", "a", "b"], None, ["a", "b", "c"]])) == ["c", "a", "b"]
    assert combine.victims(saying([None], [["x"]])) == ["x"]
    assert combine.victims(saying([["a"], []], [])) == []


def test_a_union_is_of_the_first_tier_with_anybody():
    assert combine.union(saying([[], None], [["a"], ["b", "a"]], [["c"]])) == ["a", "b"]
    assert combine.union([]) == []

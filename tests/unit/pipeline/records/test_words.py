import string

import pytest

from pipeline.records import reasons, words
from pipeline.records.words import Told


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_every_reason_has_a_title_and_a_clause_in_every_language(lang):
    catalogue = words.LANGUAGES[lang]
    assert set(catalogue.TITLES) == set(reasons.CODES)
    wanted = set(reasons.CODES) | {f"{c}/{d}" for c, ds in reasons.DETAILS.items() for d in ds}
    assert set(catalogue.BECAUSE) <= wanted
    assert set(reasons.CODES) <= set(catalogue.BECAUSE)
    assert set(catalogue.HELPS) <= wanted


def test_all_languages_have_the_same_sentences_with_the_same_places():
    def places(text):
        return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)

    first = words.LANGUAGES["en"]
    for other in words.LANGUAGES.values():
        assert set(other.SENTENCES) == set(first.SENTENCES)
        assert set(other.HELPS) == set(first.HELPS)
        for key, text in first.SENTENCES.items():
            assert places(other.SENTENCES[key]) == places(text), key


def test_a_broken_open_wait_says_how_long_since_when_because_of_what_and_where():
    told = Told(
        phase="waiting", wait_ms=2_832_000, promise_ms=1_800_000, overrun_ms=1_032_000,
        reason="insufficient_resource", resource="nvidia.com/gpu", reason_ms=1_860_000, share=0.657,
        now_reason="insufficient_resource", now_resource="nvidia.com/gpu", nodes=12, total_nodes=27,
    )  # fmt: skip
    assert words.sentence("en", told) == (
        "Waiting for 47m12s of a 30m promise, broken 17m12s ago. "
        "31m of it (66 %) because no node has enough nvidia.com/gpu free. That is so on 12 of 27 nodes."
    )
    assert words.sentence("zh", told).startswith("已等待 47m12s（承诺 30m，已超时 17m12s）。")


def test_a_wait_that_changed_its_reason_says_what_holds_it_now():
    told = Told(
        phase="waiting", wait_ms=60_000, reason="quota", reason_ms=45_000, share=0.75, resource="cpu", queue="vision",
        now_reason="pods_not_created",
    )  # fmt: skip
    assert words.sentence("en", told) == (
        "Waiting for 1m, without a promise. 45s of it (75 %) because others use the quota cpu of vision. "
        "Now because its pods have not been created."
    )


def test_a_placed_job_without_any_wait_worth_a_reason_is_one_sentence():
    assert words.sentence("en", Told(phase="scheduled", wait_ms=12)) == "Placed after 12ms."


@pytest.mark.parametrize(
    ("millis", "text"), [(0, "0s"), (999, "999ms"), (1999, "1.9s"), (61_900, "1m1s"), (7_200_000, "2h")]
)
def test_durations_are_as_exact_as_a_person_needs(millis, text):
    assert words.duration(millis) == text


@pytest.mark.parametrize(("wanted", "lang"), [(None, "en"), ("zh-CN", "zh"), ("de", "en"), ("ZH", "zh")])
def test_a_language_is_english_unless_it_is_chinese(wanted, lang):
    assert words.language(wanted) == lang

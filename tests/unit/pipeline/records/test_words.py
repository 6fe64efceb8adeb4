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
    assert set(catalogue.BECAUSE_PAST) == set(catalogue.BECAUSE)
    assert set(catalogue.HELPS) <= wanted


def places(text):
    return sorted(name for _, name, _, _ in string.Formatter().parse(text) if name)


def test_all_languages_have_the_same_texts_with_the_same_places():
    first = words.LANGUAGES["en"]
    for other in words.LANGUAGES.values():
        for family in ("SENTENCES", "HELPS", "BECAUSE", "BECAUSE_PAST"):
            texts, firsts = getattr(other, family), getattr(first, family)
            assert set(texts) == set(firsts)
        for key, text in first.SENTENCES.items():
            assert places(other.SENTENCES[key]) == places(text), key


@pytest.mark.parametrize("lang", words.LANGUAGES)
def test_what_no_longer_holds_is_told_apart_from_what_holds_and_names_the_same_things(lang):
    catalogue = words.LANGUAGES[lang]
    for key, text in catalogue.BECAUSE.items():
        past = catalogue.BECAUSE_PAST[key]
        assert places(past) == places(text), key
        assert past != text or key in ("gap", "queue_limit/never_fits"), key


def test_a_broken_open_wait_says_how_long_since_when_because_of_what_and_where():
    told = Told(
        phase="waiting", wait_ms=2_832_000, promise_ms=1_800_000, overrun_ms=1_032_000,
        reason="insufficient_resource", resource="nvidia.com/gpu", reason_ms=1_860_000, share=0.657,
        now_reason="insufficient_resource", now_resource="nvidia.com/gpu", nodes=12, total_nodes=27,
    )  # fmt: skip
    assert words.sentence("en", told) == (
        "Waiting for 47m12s of a 30m promise, broken 17m12s ago. "
        "31m of it (66 %) because no node has enough nvidia.com/gpu free. "
        "That concerns 12 of 27 nodes; something else rules out the others."
    )
    assert words.sentence("zh", told).startswith("已等待 47m12s（承诺 30m，已超时 17m12s）。")
    assert words.sentence("en", told._replace(nodes=27)).endswith("free. That concerns all 27 nodes.")


def test_chinese_has_a_blank_wherever_it_meets_latin_letters_or_figures():
    clause = words.because("zh", "quota", resource="cpu", queue="main")
    told = Told(phase="waiting", wait_ms=41_000, reason="quota", share=1.0, resource="cpu", queue="main")
    assert clause == "main 的 cpu 配额正被其他任务使用"
    assert words.sentence("zh", told).endswith("全部时间是因为 main 的 cpu 配额正被其他任务使用。")
    assert words.spaced("zh", "3个节点缺少GPU、100%的cpu（2m）") == "3 个节点缺少 GPU、100% 的 cpu（2m）"
    assert words.spaced("en", "队列a") == "队列a"


def test_a_wait_that_changed_its_reason_says_what_holds_it_now():
    told = Told(
        phase="waiting", wait_ms=60_000, reason="quota", reason_ms=45_000, share=0.75, resource="cpu", queue="vision",
        now_reason="pods_not_created",
    )  # fmt: skip
    assert words.sentence("en", told) == (
        "Waiting for 1m, without a promise. 45s of it (75 %) because others used the quota of vision (cpu). "
        "Now because its pods have not been created."
    )


def test_a_wait_that_is_over_is_told_as_past():
    told = Told(phase="scheduled", wait_ms=60_000, reason="not_admitted", detail="suspended", share=1.0)
    assert words.sentence("en", told) == "Placed after 1m. All of it because it was suspended."
    assert words.sentence("zh", told) == "等待 1m 后开始。全部时间是因为任务当时被挂起。"
    told = Told(
        phase="cancelled", wait_ms=60_000, promise_ms=30_000, overrun_ms=30_000, reason="insufficient_resource",
        resource="nvidia.com/gpu", reason_ms=45_000, share=0.75,
    )  # fmt: skip
    assert words.sentence("en", told) == (
        "Cancelled after waiting 1m of a 30s promise, broken by 30s. "
        "45s of it (75 %) because no node had enough nvidia.com/gpu free."
    )


@pytest.mark.parametrize("now", [None, "not_admitted"])
def test_an_open_wait_whose_reason_still_holds_is_told_as_present(now):
    told = Told(
        phase="waiting", wait_ms=60_000, reason="not_admitted", detail="suspended", share=1.0, now_reason=now,
        now_detail="suspended",
    )  # fmt: skip
    assert words.sentence("en", told) == "Waiting for 1m, without a promise. All of it because it is suspended."


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


def test_a_promise_is_broken_at_its_deadline_exactly():
    at_deadline = Told(phase="waiting", wait_ms=30_000, promise_ms=30_000, left_ms=0)
    assert words.sentence("en", at_deadline).startswith("Waiting for 30s of a 30s promise, broken 0s ago.")


def test_languages_have_the_same_words_around_an_answer():
    for name in ("PHASES", "STANDINGS", "LABELS", "HINTS"):
        texts = {lang: getattr(catalogue, name) for lang, catalogue in words.LANGUAGES.items()}
        for each in texts.values():
            assert each.keys() == texts["en"].keys(), name
            for key, text in each.items():
                assert places(text) == places(texts["en"][key]), key


def test_the_language_of_the_program_has_headings_and_codes_as_they_are_typed():
    assert (words.heading("en", "wait"), words.heading("zh", "wait")) == ("WAIT", "等待")
    assert (words.cell("en", "at_risk"), words.cell("zh", "at_risk")) == ("at_risk", "有风险")
    assert (words.standing("en", "violated"), words.standing("en", "new")) == ("broken", "new")
    assert (
        words.hint("zh", "unknown", filter="队列", value="a", near="", known="b")
        == "没有队列为 a 的任务。已知的有：b。"
    )


@pytest.mark.parametrize(
    ("share", "text"),
    [(0, "0 %"), (0.0004, "< 1 %"), (0.005, "1 %"), (0.125, "13 %"), (0.991, "99 %"), (0.995, "> 99 %"), (1, "100 %")],
)
def test_a_share_that_is_not_whole_never_reads_as_none_or_all(share, text):
    assert words.percent(share) == text

"""The loop, driven without network and without time passing by itself."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from pipeline.kubeapi import happenings as tell
from pipeline.kubeapi.happenings import Doing, Happening, How, Why
from pipeline.kubeapi.options import Options
from pipeline.kubeapi.progress import State
from pipeline.kubeapi.reflector import Reflector
from pipeline.kubeapi.resources import Collection, Resource
from pipeline.kubeapi.transport import ConnectFailed, ConnectionLost, StreamSilent, Untrusted
from tests.support.scripted_transport import (
    FakeClock,
    ScriptedTransport,
    Stream,
    bookmark,
    frame,
    page,
    pod,
    refused,
    status,
)

PODS = Collection(Resource("", "v1", "pods", "Pod"), label_selector="app=x")
ADDED = frame("ADDED", pod("a", "11"))
TOO_OLD = frame("ERROR", status(410, "Expired", "too old resource version: 4000 (5200)"))
AHEAD = refused(504, "Timeout", "Too large resource version: 9000, current: 5200", retryAfterSeconds=1)


class Run:
    """A reflector run to the end of its script."""

    def __init__(self, *, options: Options = Options(), resume_from: str | None = None, **script: Any) -> None:
        self.clock = FakeClock()
        self.transport = ScriptedTransport(self.clock, **script)
        self.reflector = Reflector(
            PODS, self.transport, options, resume_from=resume_from, time=self.clock, dice=lambda: 1.0
        )
        self.transport.on_end = self.reflector.stop
        self.told: list[Happening] = []
        self.reflector.run(self.told.append)
        self.progress = self.reflector.progress

    def of(self, kind: type[Any]) -> list[Any]:
        return [each for each in self.told if type(each) is kind]

    @property
    def names(self) -> list[str]:
        return [type(each).__name__ for each in self.told]

    @property
    def watched_from(self) -> list[str | None]:
        return [query.get("resourceVersion") for query in self.transport.sent("watch")]


def names_of(page_: tell.ListPage) -> list[str]:
    return [msgspec.json.decode(item)["metadata"]["name"] for item in page_.items]


def test_after_a_list_the_watch_begins_at_the_lists_own_version() -> None:
    run = Run(lists=[page("5830", pod("a", "5820"), pod("b", "5810"))], streams=[Stream()])
    (listed,) = run.of(tell.ListPage)
    assert (listed.version, listed.last, listed.kind, listed.api_version) == ("5830", True, "Pod", "v1")
    assert run.watched_from[0] == "5830"
    assert run.names[:3] == ["ListStarted", "ListPage", "WatchStarted"]


def test_pages_are_asked_for_one_after_another_with_limit_and_selectors() -> None:
    run = Run(lists=[page("5900", pod("a", "1"), token="tok1"), page("5900", pod("b", "2"))], streams=[])
    assert [(names_of(each), each.last) for each in run.of(tell.ListPage)] == [(["a"], False), (["b"], True)]
    assert run.transport.sent("list") == [
        {"labelSelector": "app=x", "limit": "500"},
        {"labelSelector": "app=x", "limit": "500", "continue": "tok1"},
    ]


def test_the_watch_asks_for_bookmarks_a_time_out_and_the_same_selector() -> None:
    run = Run(lists=[page("10")], streams=[Stream()])
    query = run.transport.sent("watch")[0]
    assert query == {
        "labelSelector": "app=x",
        "watch": "1",
        "allowWatchBookmarks": "true",
        "resourceVersion": "10",
        "timeoutSeconds": "64",
    }


def test_a_kind_that_has_bookmarks_gets_long_watches() -> None:
    run = Run(lists=[page("10")], streams=[Stream(bookmark("11")), Stream()])
    assert [query["timeoutSeconds"] for query in run.transport.sent("watch")] == ["64", "261", "261"]


def test_frames_and_bookmarks_move_the_version_and_nothing_else_does() -> None:
    stream = Stream(
        ADDED + b"oops\n" + bookmark("20"), frame("ADDED", {"metadata": {}}), frame("DELETED", pod("a", "21"))
    )
    run = Run(lists=[page("10")], streams=[stream, Stream(TOO_OLD)])
    assert run.watched_from[:2] == ["10", "21"]
    assert [each.version for each in run.of(tell.Bookmark)] == ["20"]
    assert [f.version for each in run.of(tell.Frames) for f in each.frames] == ["11", "", "21"]
    (expired,) = run.of(tell.Expired)
    assert expired.from_version == "21"


def test_what_a_chunk_holds_is_told_in_its_order() -> None:
    chunk = ADDED + frame("MODIFIED", pod("a", "12")) + b"bad\n" + bookmark("13") + frame("DELETED", pod("a", "14"))
    run = Run(lists=[page("10")], streams=[Stream(chunk)])
    assert run.names[3:7] == ["Frames", "BadLines", "Bookmark", "Frames"]
    assert len(run.of(tell.Frames)[0].frames) == 2
    assert run.progress.bad_lines == 1


def test_a_cut_frame_is_counted_and_read_again() -> None:
    run = Run(lists=[page("10")], streams=[Stream(ADDED + b'{"type":"ADD', ConnectionLost("cut")), Stream()])
    (ended, *_) = run.of(tell.StreamEnded)
    assert (ended.how, ended.discarded_bytes) == (How.CONNECTION, 12)
    assert run.watched_from[:2] == ["10", "11"]
    assert run.progress.discarded_bytes == 12


def test_an_orderly_end_is_followed_by_the_next_watch_at_once() -> None:
    run = Run(lists=[page("10")], streams=[Stream(60.0), Stream(60.0)])
    assert run.watched_from[:3] == ["10", "10", "10"]
    assert run.clock.waits_s == []
    assert run.transport.sent("probe") == []


def test_a_server_that_ends_every_stream_at_once_is_met_with_longer_waits() -> None:
    run = Run(lists=[page("10")], streams=[Stream() for _ in range(9)])
    assert run.clock.waits_s[:9] == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


@pytest.mark.parametrize("reason", ["Expired", "Gone"])
def test_an_expired_version_means_a_new_list_at_once(reason: str) -> None:
    streams = [Stream(ADDED, 7.0, frame("ERROR", status(410, reason)))]
    run = Run(lists=[page("10"), page("50", pod("b", "40"))], streams=streams)
    (expired,) = run.of(tell.Expired)
    assert (expired.from_version, expired.why, expired.at_ms - expired.from_ms) == ("11", Why.EXPIRED, 7000)
    assert [each.why for each in run.of(tell.ListStarted)] == [Why.START, Why.EXPIRED]
    assert run.clock.waits_s == []
    assert run.watched_from[:2] == ["10", "50"]
    assert run.progress.expiries == 1


def test_a_version_that_expires_on_opening_means_a_new_list_too() -> None:
    run = Run(lists=[page("10"), page("50")], streams=[Stream(60.0), refused(410, "Expired")])
    assert run.of(tell.Expired)[0].from_ms == run.of(tell.StreamEnded)[0].at_ms, (
        "until the orderly end nothing is missing"
    )
    assert len(run.transport.sent("list")) == 2


def test_a_server_that_forgets_what_it_just_listed_is_not_listed_in_a_hot_loop() -> None:
    run = Run(lists=[page(str(n)) for n in range(10, 15)], streams=[Stream(TOO_OLD) for _ in range(5)])
    assert len(run.of(tell.Expired)) == 5
    assert run.clock.waits_s[:4] == [1, 2, 4, 8]


def test_a_list_that_fails_is_tried_for_ever_and_told() -> None:
    lists = [page("10"), *[refused(500, "InternalError", "etcdserver: leader changed")] * 3, page("50")]
    run = Run(lists=lists, streams=[Stream(ADDED, TOO_OLD), Stream(60.0)])
    retries = [each for each in run.of(tell.Retrying) if each.doing is Doing.LIST]
    assert [each.attempt for each in retries] == [1, 2, 3]
    assert "leader changed" in retries[0].error
    assert [each.after_s for each in run.of(tell.Back)] == [0.5 + 1 + 2]
    assert run.watched_from[:2] == ["10", "50"]


def test_a_list_that_brings_nothing_in_time_is_given_more_of_it() -> None:
    silent = StreamSilent("nothing came in time")
    run = Run(lists=[silent, silent, silent, silent, page("10")], streams=[], options=Options(list_read_timeout_s=60.0))
    assert run.transport.patience_s[:5] == [60.0, 120.0, 240.0, 240.0, 240.0]
    assert run.of(tell.ListPage)[0].version == "10"


def test_a_certificate_that_does_not_verify_may_be_a_new_one_so_whom_we_trust_is_read_again() -> None:
    run = Run(lists=[Untrusted("unknown issuer"), Untrusted("unknown issuer"), page("10")], streams=[])
    assert run.transport.refreshes == 2
    assert [each.wait_s > 0 for each in run.of(tell.Retrying)[:2]] == [False, True], "at once, then as any failure"
    assert run.of(tell.ListPage)


def test_an_expired_token_begins_the_list_again() -> None:
    lists = [page("5900", pod("a", "1"), token="tok1"), refused(410, "Expired"), page("5950", pod("a", "1"))]
    run = Run(lists=lists, streams=[])
    assert run.names[:4] == ["ListStarted", "ListPage", "ListRestarted", "ListPage"]
    assert run.clock.waits_s == []
    assert run.watched_from[0] == "5950"
    assert run.of(tell.Expired) == [], "the version we watch from is none that could have expired"


def test_a_list_whose_tokens_keep_expiring_comes_in_one_piece() -> None:
    paged = [page("1", token="t"), refused(410, "Expired")]
    run = Run(lists=[*paged, *paged, page("3")], streams=[])
    assert [query.get("limit") for query in run.transport.sent("list")] == ["500", "500", "500", "500", None]


def test_a_list_cut_between_two_pages_goes_on_with_the_next_page() -> None:
    run = Run(lists=[page("9", token="t"), ConnectionLost("reset"), page("9")], streams=[])
    assert [query.get("continue") for query in run.transport.sent("list")] == [None, "t", "t"]
    assert run.of(tell.ListRestarted) == []


def test_a_silent_stream_is_closed_asked_about_and_opened_again_from_its_version() -> None:
    run = Run(lists=[page("10")], streams=[Stream(ADDED, 90.0, StreamSilent("nothing came")), Stream(ADDED)])
    (silent,) = run.of(tell.Silent)
    assert (silent.version, silent.for_s) == ("11", 90.0)
    assert [query["resourceVersion"] for query in run.transport.sent("probe")][:1] == ["11"]
    assert run.transport.sent("probe")[0]["limit"] == "1"
    assert run.watched_from[:2] == ["10", "11"]
    assert run.progress.silences == 1


def test_bytes_without_a_frame_are_silence() -> None:
    drip = [step for _ in range(11) for step in (10.0, b"\n")]
    run = Run(lists=[page("10")], streams=[Stream(*drip)])
    assert run.of(tell.StreamEnded)[0].how is How.SILENT


def test_the_time_a_consumer_takes_is_no_silence() -> None:
    clock = FakeClock()
    transport = ScriptedTransport(
        clock, lists=[page("10")], streams=[Stream(ADDED, b"\n", frame("ADDED", pod("b", "12")))]
    )
    reflector = Reflector(PODS, transport, time=clock, dice=lambda: 1.0)
    transport.on_end = reflector.stop
    told: list[Happening] = []

    def slow(happening: Happening) -> None:
        told.append(happening)
        clock.passed_s += 600

    reflector.run(slow)
    assert not any(isinstance(each, tell.Silent) for each in told)
    assert sum(isinstance(each, tell.Frames) for each in told) == 2


def test_a_version_from_the_future_is_given_up_after_a_few_tries() -> None:
    run = Run(resume_from="9000", probes=[AHEAD], lists=[page("5200")], streams=[])
    (expired,) = run.of(tell.Expired)
    assert (expired.from_version, expired.why, expired.from_ms) == ("9000", Why.AHEAD, None)
    assert len(run.transport.sent("probe")) == 4
    assert run.clock.waits_s[:3] == [1, 1, 2]
    assert [each.why for each in run.of(tell.ListStarted)] == [Why.AHEAD]
    assert run.watched_from[0] == "5200", "versions may go down"


def test_a_server_that_lags_is_given_time() -> None:
    run = Run(resume_from="9000", probes=[AHEAD, AHEAD, page("9100")], streams=[Stream(60.0)])
    assert run.of(tell.Expired) == []
    assert run.watched_from[0] == "9000"
    assert len(run.of(tell.Back)) == 1


def test_an_error_frame_that_says_ahead_is_given_up_too() -> None:
    ahead = frame("ERROR", status(504, "Timeout", "Too large resource version: 9000, current: 5200"))
    run = Run(lists=[page("9000"), page("5200")], streams=[Stream(ahead) for _ in range(4)], probes=[page("1")])
    assert [each.why for each in run.of(tell.Expired)] == [Why.AHEAD]


def test_a_lost_connection_makes_us_ask_before_the_next_watch() -> None:
    run = Run(lists=[page("10")], streams=[Stream(ADDED, ConnectionLost("reset")), Stream(60.0)], probes=[page("11")])
    kinds = [kind for kind, _ in run.transport.requests]
    assert kinds[:4] == ["list", "watch", "probe", "watch"]


def test_a_server_that_does_not_know_the_question_is_watched_without_it() -> None:
    run = Run(
        resume_from="10", probes=[refused(422, "Invalid", "resourceVersionMatch is forbidden")], streams=[Stream(60.0)]
    )
    assert run.watched_from[0] == "10"


def test_a_version_the_server_cannot_read_is_forgotten() -> None:
    run = Run(
        resume_from="None", probes=[refused(400, "BadRequest", 'invalid resource version "None"')], lists=[page("5")]
    )
    assert [each.from_version for each in run.of(tell.Expired)] == ["None"]
    assert run.watched_from[0] == "5"


def test_resuming_lists_nothing_and_watches_from_the_checkpoint() -> None:
    run = Run(resume_from="v-00a9f", streams=[Stream(60.0)])
    assert run.transport.sent("list") == []
    assert run.watched_from[0] == "v-00a9f"


def test_a_refused_token_is_read_again_and_tried_at_once_but_only_once() -> None:
    run = Run(lists=[refused(401, "Unauthorized")] * 3 + [page("10")], streams=[Stream(60.0)])
    assert run.transport.refreshes == 3
    assert [each.wait_s for each in run.of(tell.Retrying)[:3]] == [0.0, 0.5, 1.0]


def test_a_refused_token_does_not_make_a_hot_loop_when_probes_are_allowed() -> None:
    run = Run(resume_from="10", streams=[refused(401, "Unauthorized")] * 5)
    assert run.clock.waits_s[:4] == [0.5, 1, 2, 4]


def test_a_forbidden_collection_is_told_once_and_tried_ever_more_slowly() -> None:
    lists = [refused(403, "Forbidden", "pods is forbidden")] * 10 + [page("10")]
    run = Run(lists=lists, streams=[Stream(60.0)])
    assert [each.message for each in run.of(tell.Forbidden)] == ["403 Forbidden: pods is forbidden"]
    assert run.names[:2] == ["ListStarted", "Forbidden"], "what never came may be told at once"
    assert run.clock.waits_s[:10] == [0.5, 1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert [each.after_s for each in run.of(tell.Back)] == [243.5]


@pytest.mark.parametrize("code", [403, 404])
def test_a_server_that_starts_and_refuses_everything_at_first_is_watched_again_within_seconds(code: int) -> None:
    away = [ConnectFailed("refused")] * 12
    starting = [refused(503), refused(code, "", "no role is known yet"), refused(code), page("11")]
    run = Run(lists=[page("10")], streams=[Stream(ADDED, ConnectionLost("cut")), Stream(60.0)], probes=away + starting)
    assert run.clock.waits_s[:13] == [0.5, 0.5, 1, 2, 4, 5, 5, 5, 5, 5, 5, 5, 5], "while it is away"
    assert run.clock.waits_s[13:16] == [1, 0.5, 1], "once it answers"
    assert run.watched_from[:2] == ["10", "11"]
    assert [run.of(kind) for kind in (tell.Forbidden, tell.NotServed, tell.Expired)] == [[], [], []]
    assert len(run.of(tell.Back)) == 1


def test_what_came_before_and_stays_refused_is_told_once() -> None:
    streams = [Stream(ADDED), *[refused(403, "Forbidden", "cannot watch")] * 9, Stream(60.0)]
    run = Run(lists=[page("10")], streams=streams)
    first, told = run.of(tell.Retrying)[0], run.of(tell.Forbidden)
    assert [each.at_ms - first.at_ms for each in told] == [7500], "the first try after five seconds"
    assert run.progress.retries >= 9


def test_a_watch_that_alone_is_forbidden_is_no_back_and_forth() -> None:
    run = Run(lists=[page("10")], streams=[refused(403, "Forbidden", "cannot watch")] * 6 + [Stream(60.0)])
    assert len(run.of(tell.Forbidden)) == 1
    assert len(run.of(tell.Back)) == 1
    assert run.watched_from[:7] == ["10"] * 7


def test_a_kind_that_is_gone_is_listed_anew_when_it_is_back() -> None:
    gone = refused(404, "", "404 page not found")
    run = Run(lists=[page("10"), gone, page("50")], streams=[Stream(ADDED), *[gone] * 5, Stream(60.0)])
    assert len(run.of(tell.NotServed)) == 1
    assert [each.why for each in run.of(tell.ListStarted)] == [Why.START, Why.SERVED_AGAIN]
    assert run.watched_from[:7] == ["10", *["11"] * 5, "50"]


def test_the_servers_wish_to_wait_is_kept_within_bounds() -> None:
    run = Run(
        lists=[refused(429, "TooManyRequests", retryAfterSeconds=7), refused(503, retryAfterSeconds=100_000), page("1")]
    )
    assert run.clock.waits_s[:2] == [7, 300]


def test_a_page_that_is_no_list_is_asked_for_again() -> None:
    run = Run(lists=[b"<html>", page("10")], streams=[])
    assert "cannot be decoded" in run.of(tell.Retrying)[0].error
    assert run.watched_from[0] == "10"


STREAMED = Options(streamed_list=True)


def test_a_streamed_list_is_told_as_pages_and_goes_on_as_the_watch() -> None:
    stream = Stream(
        frame("ADDED", pod("a", "3")) + frame("ADDED", pod("b", "2")),
        frame("DELETED", pod("b", "5")) + frame("MODIFIED", pod("a", "4")),
        bookmark("9", initial_end=True) + frame("ADDED", pod("c", "11")),
    )
    run = Run(options=STREAMED, streams=[stream])
    assert run.names[:7] == ["ListStarted", "ListPage", "Frames", "ListPage", "ListPage", "WatchStarted", "Frames"]
    pages = run.of(tell.ListPage)
    assert [(names_of(each), each.last, each.version) for each in pages] == [
        (["a", "b"], False, ""),
        (["a"], False, ""),
        ([], True, "9"),
    ]
    assert run.transport.sent("watch")[0] == {
        "labelSelector": "app=x",
        "watch": "1",
        "allowWatchBookmarks": "true",
        "timeoutSeconds": "64",
        "sendInitialEvents": "true",
        "resourceVersionMatch": "NotOlderThan",
    }
    assert run.watched_from[1] == "11"


def test_the_end_mark_of_a_streamed_list_is_no_sign_that_bookmarks_come() -> None:
    run = Run(options=STREAMED, streams=[Stream(bookmark("9", initial_end=True)), Stream(60.0)])
    assert [query["timeoutSeconds"] for query in run.transport.sent("watch")][:2] == ["64", "64"]


def test_a_server_without_streamed_lists_is_listed_in_pages() -> None:
    run = Run(options=STREAMED, streams=[refused(422, "Invalid", "sendInitialEvents is forbidden")], lists=[page("10")])
    assert run.names[:3] == ["ListStarted", "ListRestarted", "ListPage"]
    assert run.watched_from == [None, "10"]


def test_a_streamed_list_that_is_cut_twice_comes_in_pages() -> None:
    run = Run(options=STREAMED, streams=[Stream(ADDED, ConnectionLost("cut"))] * 2, lists=[page("10")])
    assert [each.why for each in run.of(tell.ListRestarted)] == [Why.CUT, Why.CUT]
    assert run.watched_from == [None, None, "10"]


def test_a_forgetful_server_during_a_streamed_list_expires_nothing() -> None:
    run = Run(options=STREAMED, streams=[Stream(TOO_OLD), Stream(bookmark("9", initial_end=True))])
    assert run.of(tell.Expired) == []
    assert run.of(tell.ListPage)[-1].version == "9"


def test_progress_says_what_happened_and_when() -> None:
    run = Run(lists=[page("10")], streams=[Stream(1.0, ADDED, 2.0, bookmark("12"))])
    start_ms = run.told[0].at_ms
    progress = run.progress
    assert progress.state is State.STOPPED
    assert (progress.last_list_ms, progress.last_frame_ms, progress.last_bookmark_ms) == (
        start_ms,
        start_ms + 1000,
        start_ms + 3000,
    )
    assert (progress.lists, progress.watches, progress.frames, progress.bookmarks) == (1, 1, 1, 1)
    assert progress.version == "12"
    assert progress.silent_ms(start_ms + 5000) == 2000


def test_what_the_consumer_raises_ends_the_loop() -> None:
    clock = FakeClock()
    transport = ScriptedTransport(clock, lists=[page("10")])
    reflector = Reflector(PODS, transport, time=clock)

    def full(_: Happening) -> None:
        raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        reflector.run(full)
    assert reflector.progress.state is State.STOPPED


def test_stopping_ends_the_loop_and_what_it_waits_for() -> None:
    run = Run(lists=[page("10")], streams=[])
    assert run.transport.aborted
    assert run.progress.state is State.STOPPED


def test_a_kind_that_goes_away_between_two_pages_is_listed_from_the_first() -> None:
    run = Run(lists=[page("9", token="t"), refused(404, "", "404 page not found"), page("20")], streams=[])
    assert [query.get("continue") for query in run.transport.sent("list")] == [None, "t", None]
    assert len(run.of(tell.ListRestarted)) == 1


def test_the_last_frame_of_a_batch_is_where_we_are() -> None:
    run = Run(lists=[page("10")], streams=[Stream(ADDED + frame("MODIFIED", pod("a", "12")), 6.0), Stream(6.0)])
    assert run.watched_from[:2] == ["10", "12"]


def test_only_the_marked_bookmark_ends_a_streamed_list() -> None:
    run = Run(options=STREAMED, streams=[Stream(bookmark("5"), ADDED, bookmark("9", initial_end=True))])
    assert [(each.last, each.version) for each in run.of(tell.ListPage)] == [(False, ""), (True, "9")]


def test_a_streamed_list_that_was_cut_once_in_a_while_stays_streamed() -> None:
    cut = Stream(ADDED, ConnectionLost("cut"))
    whole = Stream(bookmark("9", initial_end=True), TOO_OLD)
    run = Run(options=STREAMED, streams=[cut, whole, cut, whole])
    assert run.transport.sent("list") == []
    assert run.progress.lists == 2


def test_a_watch_that_cannot_be_opened_makes_us_ask_too() -> None:
    run = Run(lists=[page("10")], streams=[ConnectionLost("refused"), Stream(60.0)])
    assert [kind for kind, _ in run.transport.requests][:4] == ["list", "watch", "probe", "watch"]


def test_a_stream_that_lived_ends_the_row_of_failures() -> None:
    lost = ConnectionLost("reset")
    streams = [lost, lost, Stream(60.0), lost, Stream(6.0, lost), lost]
    run = Run(lists=[page("10")], streams=streams)
    assert run.clock.waits_s[:5] == [0.5, 1.0, 0.5, 0.5, 1.0]


def test_a_short_stream_that_brought_something_ends_it_too() -> None:
    lost = ConnectionLost("reset")
    run = Run(lists=[page("10")], streams=[lost, lost, Stream(ADDED), Stream(bookmark("12")), lost])
    assert run.clock.waits_s[:3] == [0.5, 1.0, 0.5]


def test_nothing_is_told_after_stopping() -> None:
    clock = FakeClock()
    transport = ScriptedTransport(clock, lists=[page("10")], streams=[Stream(ADDED, ADDED, ADDED)])
    reflector = Reflector(PODS, transport, time=clock)
    told: list[Happening] = []

    def stop_at_the_first_frame(happening: Happening) -> None:
        told.append(happening)
        if isinstance(happening, tell.Frames):
            reflector.stop()

    reflector.run(stop_at_the_first_frame)
    assert [type(each).__name__ for each in told] == ["ListStarted", "ListPage", "WatchStarted", "Frames"]

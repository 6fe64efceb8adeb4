from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.kubeapi.lines import LineSplitter


def split(chunks: list[bytes], **options: int) -> list[bytes]:
    splitter = LineSplitter(**options)
    return [line for chunk in chunks for line in splitter.feed(chunk)]


@given(st.lists(st.binary(max_size=6).filter(lambda line: b"\n" not in line), max_size=8), st.data())
def test_lines_do_not_depend_on_where_the_chunks_end(lines: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    chunks = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert split(chunks) == [line for line in lines if line.strip()]


def test_a_character_cut_in_two_is_whole_again() -> None:
    line = "资源不足".encode()
    for cut in range(len(line)):
        assert split([line[:cut], line[cut:] + b"\n"]) == [line]


def test_blank_lines_are_no_lines() -> None:
    assert split([b"\n", b"a\n", b"   \n\t\r\n", b"\n"]) == [b"a"]


def test_the_beginning_of_a_cut_line_is_counted() -> None:
    splitter = LineSplitter()
    assert splitter.feed(b"whole\npart") == [b"whole"]
    assert splitter.feed(b"ial") == []
    assert splitter.pending_bytes == len(b"partial")
    assert splitter.feed(b"\n") == [b"partial"]
    assert splitter.pending_bytes == 0


def test_only_the_newline_byte_ends_a_line() -> None:
    assert split(["a\u2028b\x0bc\x85d\r".encode(), b"e\n"]) == ["a\u2028b\x0bc\x85d\re".encode()]


def test_an_endless_line_is_cut_and_the_next_one_is_whole() -> None:
    splitter = LineSplitter(max_line_bytes=10)
    lines = [
        line
        for chunk in (b"x" * 8, b"x" * 8, b"x" * 8 + b"\nnext\n" + b"y" * 12 + b"\n")
        for line in splitter.feed(chunk)
    ]
    assert lines == [b"x" * 10, b"next", b"y" * 10]
    assert splitter.dropped_bytes == 14 + 2
    assert splitter.pending_bytes == 0

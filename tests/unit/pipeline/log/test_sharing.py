"""The writer of a log is found by whoever else in its process appends to it."""

import pytest

from pipeline.errors import UserError
from pipeline.log import LogOptions, LogReader, LogWriter, sharing

OPTIONS = LogOptions(cluster="c", min_free_bytes=0)


def test_a_log_has_a_writer_while_it_is_open(tmp_path):
    assert sharing.writer_of(tmp_path / "log") is None
    with LogWriter(tmp_path / "log", options=OPTIONS) as writer:
        assert sharing.writer_of(tmp_path / "." / "log") is writer
        assert sharing.writer_of(tmp_path / "other") is None
    assert sharing.writer_of(tmp_path / "log") is None


def test_what_another_part_appends_is_in_the_log_in_its_order(tmp_path):
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        writer.append([b'{"observedms":5}'], [5])
        shared = sharing.writer_of(tmp_path)
        shared.append([b'{"observedms":3}'], [3])
        shared.sync()
        with LogReader(tmp_path, "test") as reader:
            assert [(entry.stamp, entry.line) for entry in reader.read().entries] == [
                (5, b'{"observedms":5}'),
                (5, b'{"observedms":3}'),
            ]


def test_a_writer_that_could_not_open_is_not_found(tmp_path):
    with LogWriter(tmp_path, options=OPTIONS) as writer:
        with pytest.raises(UserError):
            LogWriter(tmp_path, options=OPTIONS)
        assert sharing.writer_of(tmp_path) is writer

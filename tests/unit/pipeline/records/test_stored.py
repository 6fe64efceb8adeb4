"""Stored state is read by the version that wrote it, and by no other."""

from __future__ import annotations

import msgspec
import pytest

from pipeline.errors import Terminal
from pipeline.records import stored


class State(msgspec.Struct):
    schema: int
    jobs: list[str] = []


DECODERS = [(msgspec.msgpack, msgspec.msgpack.Decoder(State)), (msgspec.json, msgspec.json.Decoder(State))]


@pytest.mark.parametrize(("form", "decoder"), DECODERS, ids=["msgpack", "json"])
def test_what_this_version_wrote_is_read(form, decoder):
    assert stored.read(decoder.decode, form.encode(State(3, ["a"])), 3, "list of jobs") == State(3, ["a"])


@pytest.mark.parametrize(("form", "decoder"), DECODERS, ids=["msgpack", "json"])
def test_what_another_version_wrote_or_a_disk_has_damaged_is_told_by_its_name(form, decoder):
    data = form.encode(State(2))
    with pytest.raises(Terminal, match="the stored list of jobs has schema 2, this version reads 3"):
        stored.read(decoder.decode, data, 3, "list of jobs")
    with pytest.raises(Terminal, match="the stored list of jobs cannot be read"):
        stored.read(decoder.decode, data[:-1], 2, "list of jobs")

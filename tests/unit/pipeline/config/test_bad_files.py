"""One bad file for each way of being wrong, pinned to its message.

Each `bad/*.bad.yml` begins with comment lines `# expect: LINE:COLUMN: …`, one for each problem, in the order reported.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import pydantic
import pytest

from pipeline.config import fields
from pipeline.config.ground import Ground
from pipeline.config.load import load
from pipeline.errors import ConfigInvalid

BAD = sorted((Path(__file__).parent / "bad").glob("*.bad.yml"))


class Webhook(fields.Section):
    kind: Literal["webhook"]
    url: fields.Secret
    timeout: fields.Duration = 10.0


class Mail(fields.Section):
    kind: Literal["mail"]
    to: Annotated[list[str], pydantic.Field(min_length=1)]


class Probe(fields.Section):
    """One field of each type."""

    name: Annotated[str, pydantic.Field(min_length=1)] = "x"
    count: Annotated[int, pydantic.Field(gt=0)] = 1
    share: Annotated[float, pydantic.Field(ge=0, le=1)] = 0.8
    on: bool = True
    interval: fields.Duration = 5.0
    wait: fields.DurationMs = 500
    max_size: fields.Bytes = 1024
    token: fields.Secret | None = None
    mode: Literal["shadow", "live", "off"] = "off"
    kinds: list[str] = []
    labels: dict[str, str] = {}
    channels: list[Annotated[Webhook | Mail, pydantic.Field(discriminator="kind")]] = []


class Root(Ground):
    probe: Probe = pydantic.Field(default_factory=Probe)


def test_there_is_a_fixture_for_each_mistake() -> None:
    assert len(BAD) >= 25


@pytest.mark.parametrize("path", BAD, ids=lambda path: path.name.removesuffix(".bad.yml"))
def test_a_bad_file_gives_exactly_its_messages(path: Path) -> None:
    expected = [
        f"{path}:{line.removeprefix('# expect: ')}"
        for line in path.read_text(encoding="utf-8").splitlines()
        if line.startswith("# expect: ")
    ]
    with pytest.raises(ConfigInvalid) as caught:
        load([path], {"SHORT": "1"}, {}, model=Root)
    assert caught.value.problems == expected

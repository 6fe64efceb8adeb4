"""The reference of settings: complete, and true for every section that is installed."""

from __future__ import annotations

import re

import pydantic
import pytest

from pipeline import extensions
from pipeline.config import fields, load, reference, shape

SECTIONS = [extension.name for extension in extensions.found(extensions.SETTINGS) if extension.own]


def test_every_field_of_every_section_says_what_it_does() -> None:
    root = load.root_model()
    silent = [
        ".".join(map(str, path))
        for path, field in shape.walk(root)
        if not field.description and not shape.models(field.annotation)
    ]
    assert silent == []


@pytest.mark.parametrize("section", ["cluster", "log", "admin", *SECTIONS])
def test_every_section_works_without_any_source_and_is_described(section: str) -> None:
    model = shape.models(load.root_model().model_fields[section].annotation)[0]
    assert isinstance(model(), fields.Section)
    assert model.__doc__ and model.__doc__ != fields.Section.__doc__


def test_the_page_has_a_row_for_every_key() -> None:
    page = reference.page()
    for path, field in shape.walk(load.root_model()):
        if not shape.models(field.annotation):
            key = ".".join(map(str, path)).replace(".[]", "[]").replace(".{}", ".NAME")
            assert f"| `{key}` |" in page


def test_defaults_and_types_are_shown_as_people_write_them(monkeypatch: pytest.MonkeyPatch) -> None:
    class Item(fields.Section):
        url: fields.Secret
        """Where to."""

    class Root(load.Ground):
        wait: fields.Duration | None = 90.0
        """How long."""
        waits: list[fields.DurationMs] = [500]
        """How long each."""
        size: fields.Bytes = 2**20
        """How big."""
        items: list[Item] = []
        """What."""
        named: dict[str, Item] = {}
        """What by name."""
        word: str
        """Which."""

    monkeypatch.setattr(load, "root_model", lambda: Root)
    page = reference.page()
    for row in (
        "| `wait` | duration | `1m30s` | How long. | restart |",
        '| `waits` | list of duration | `["500ms"]` | How long each. | restart |',
        "| `size` | size | `1MiB` | How big. | restart |",
        "| `items` | list of mapping | `[]` | What. | restart |",
        "| `word` | text | (required) | Which. | restart |",
    ):
        assert row in page


def test_the_schema_takes_what_the_loader_takes_and_is_closed() -> None:
    schema = reference.schema()
    assert schema["additionalProperties"] is False
    assert set(schema["properties"]) == set(load.root_model().model_fields)
    log = schema["$defs"]["Log"]
    assert log["properties"]["level"]["enum"] == ["debug", "info", "warning", "error"]
    assert log["additionalProperties"] is False


def test_durations_of_the_schema_are_those_of_the_grammar() -> None:
    class Waits(pydantic.BaseModel):
        wait: fields.Duration

    pattern = Waits.model_json_schema()["properties"]["wait"]["pattern"]
    for text in ("0", "1h30m", "1.5s", ".5s", "500ms", "${WAIT}"):
        assert re.search(pattern, text), text
    for text in ("5", "7d", "1h 30m", "", "-1s"):
        assert not re.search(pattern, text), text

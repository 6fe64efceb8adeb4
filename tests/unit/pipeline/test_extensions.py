"""What is installed, read from the metadata on the path."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import extensions


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder as the whole path, and no memory of another one."""
    monkeypatch.setattr(sys, "path", [str(tmp_path / "near"), str(tmp_path / "gone"), str(tmp_path / "far")])
    extensions.found.cache_clear()
    extensions._entry_point_files.cache_clear()
    yield tmp_path
    extensions.found.cache_clear()
    extensions._entry_point_files.cache_clear()


def distribution(folder: Path, name: str, text: str) -> None:
    info = folder / f"{name}.dist-info"
    info.mkdir(parents=True)
    (info / "entry_points.txt").write_text(text)


def test_entry_points_of_one_group_come_own_first_then_by_name(path: Path) -> None:
    distribution(
        path / "far",
        "kube_collector-0.1.0",
        "[kube_collector.commands]\nwhy = a.b:c\n\n[kube_collector.docs]\nx.md = d:e\n",
    )
    distribution(
        path / "near",
        "acme_tools-2.0.1",
        "[console_scripts]\nacme = x:y\n[kube_collector.commands]\nacme = acme.cli : main [extra]\n",
    )
    distribution(path / "near", "unrelated-1.0", "[console_scripts]\nwhy = x:y\n")
    assert extensions.found(extensions.COMMANDS) == (
        extensions.Extension("why", "a.b:c", "kube-collector", "0.1.0"),
        extensions.Extension("acme", "acme.cli:main", "acme-tools", "2.0.1"),
    )
    assert [each.name for each in extensions.found(extensions.DOCS)] == ["x.md"]
    assert extensions.found(extensions.CHECKS) == ()


def test_the_nearest_copy_of_a_distribution_counts(path: Path) -> None:
    distribution(path / "near", "kube_collector-0.2.0", "[kube_collector.commands]\nwhy = new:c\n")
    distribution(path / "far", "kube_collector-0.1.0", "[kube_collector.commands]\nwhy = old:c\nold = old:d\n")
    assert [(each.target, each.version) for each in extensions.found(extensions.COMMANDS)] == [("new:c", "0.2.0")]


def test_an_extension_leads_to_its_object() -> None:
    assert extensions.Extension("x", "os.path:join", "d", "1").load() is __import__("os").path.join
    assert extensions.Extension("x", "json:decoder.JSONDecoder", "d", "1").load() is __import__("json").JSONDecoder
    with pytest.raises(ImportError):
        extensions.Extension("x", "no_such_module:f", "d", "1").load()

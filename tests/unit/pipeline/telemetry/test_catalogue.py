"""The list of metrics keeps its own rules."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pipeline.telemetry import catalogue, metrics, reference


@pytest.mark.parametrize("metric", catalogue.declared(), ids=lambda metric: metric.name)
def test_names_follow_the_rules(metric: metrics.Metric) -> None:
    assert re.fullmatch(r"kube_collector_[a-z][a-z_]*[a-z]", metric.name)
    assert metric.name.endswith("_total") == (metric.kind == "counter")
    assert metric.help.endswith(".") and metric.help[0].isupper()
    assert metric.kind != "histogram" or metric.unit
    assert not set(metric.labels) & {"job", "pod", "namespace", "node", "uid", "message"}, (
        "labels are small closed sets"
    )


def test_every_metric_is_scraped_and_on_the_page() -> None:
    scraped = {family.name for family in metrics.REGISTRY.collect()}
    page = reference.page()
    for metric in catalogue.declared():
        assert metric.name.removesuffix("_total") in scraped
        assert f"| `{metric.name}` |" in page


def test_a_name_is_declared_once() -> None:
    with pytest.raises(ValueError, match="declared twice"):
        metrics.counter("records_total", "Again.")


def test_what_counters_of_a_stage_come_to_is_summed_over_their_other_labels() -> None:
    catalogue.records.labels("summed", "one").inc(2)
    catalogue.records.labels("summed", "other").inc()
    catalogue.dead_letters.labels("summed", "one").inc()
    catalogue.sink_rows.labels("summed", "one").inc()
    found = {name: value for (stage, name), value in metrics.of_stages().items() if stage == "summed"}
    assert found == {"records": pytest.approx(3), "dead_letters": pytest.approx(1)}


def test_every_metric_has_a_place_that_moves_it() -> None:
    root = Path(catalogue.__file__).parents[2]
    rooms = ("pipeline", "collector", "aggregation", "sinks", "dashboards", "scheduler_core")
    code = "\n".join(
        path.read_text() for room in rooms for path in (root / room).rglob("*.py") if path.name != "catalogue.py"
    )
    source = Path(catalogue.__file__).read_text()
    declared = re.findall(r"^(\w+) = (?:counter|gauge|histogram)\(", source, re.MULTILINE)
    assert len(declared) == len(catalogue.declared())
    assert [name for name in declared if f"catalogue.{name}" not in code and f"metrics.{name}" not in code] == []

"""The list of metrics keeps its own rules."""

from __future__ import annotations

import re

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

"""Quantities as exact integers."""

from decimal import Decimal

import pytest

from pipeline.records import quantity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("8", "8"), ("500m", "0.5"), ("0.1", "0.1"), ("64Gi", str(64 * 2**30)), ("1k", "1000"), ("1e3", "1000"), ("1E3", "1000"),
        ("1E", str(10**18)), ("5Ei", str(5 * 2**60)), ("-1", "-1"), ("+2", "2"), (".5", "0.5"), ("1.", "1"), (" 3 ", "3"),
        ("100n", "1e-7"), ("7u", "7e-6"), (4, "4"), (0.25, "0.25"),
    ],
)  # fmt: skip
def test_a_quantity_has_an_exact_value(text, value):
    assert quantity.parse(text) == Decimal(value)


@pytest.mark.parametrize("text", ["", "much", "1K", "1ki", "1 Gi", "1Gi5", "0x10", "1e", "--1", "1_000", "NaN", "１"])
def test_what_is_no_quantity_is_refused(text):
    with pytest.raises(ValueError, match="not a Kubernetes quantity"):
        quantity.parse(text)


def test_units_and_thousandths_are_rounded_up_as_the_server_rounds():
    assert quantity.units("1500m") == 2
    assert quantity.units("1Ki") == 1024
    assert quantity.milli("0.0001") == 1
    assert quantity.milli("2") == 2000
    assert quantity.units("-1500m") == -1


def test_nothing_and_what_cannot_be_read_are_zero():
    assert [quantity.units(each) for each in (None, "", "many")] == [0, 0, 0]
    assert quantity.milli("1e999") >= 0

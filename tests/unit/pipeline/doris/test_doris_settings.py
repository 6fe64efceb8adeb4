"""Addresses and secrets of the section `doris`."""

from __future__ import annotations

import pydantic
import pytest

from pipeline.doris.settings import Settings


@pytest.mark.parametrize(
    ("frontend", "host", "url"),
    [
        ("fe:8030", "fe", "http://fe:8030"),
        ("fe", "fe", "http://fe:8030"),
        ("https://fe.example:8443/", "fe.example", "https://fe.example:8443"),
        ("[::1]:8030", "::1", "http://[::1]:8030"),
    ],
)
def test_a_frontend_is_a_host_with_scheme_and_port_if_wanted(frontend, host, url):
    settings = Settings(frontend=frontend)
    assert (settings.host, settings.http_url) == (host, url)


@pytest.mark.parametrize("frontend", ["http://", "fe:port", "a b", "ftp://fe:1", "fe:8030/api"])
def test_an_address_that_is_none_is_refused_with_what_to_write(frontend):
    with pytest.raises(pydantic.ValidationError, match="write host:8030"):
        Settings(frontend=frontend)


def test_without_a_frontend_there_is_no_address():
    with pytest.raises(ValueError, match="no frontend"):
        _ = Settings().http_url


def test_the_password_does_not_show():
    settings = Settings(password="hush")
    assert settings.secret == "hush" and "hush" not in repr(settings)

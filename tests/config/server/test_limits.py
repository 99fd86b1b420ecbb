"""The limits of URL and headers, at the limit and one byte beyond."""

import pytest

from config.server.limits import LONGEST_HEADER, LONGEST_URL, TOO_LONG, enforce


def exceeded(**values):
    """Status of the exceeded limit; None within the limits."""
    environ = {"PATH_INFO": "/panel/", "QUERY_STRING": "", **values}
    enforce(environ)
    return environ[TOO_LONG].status if TOO_LONG in environ else None


@pytest.mark.parametrize(("beyond", "status"), [(0, None), (1, 414)])
def test_path_and_query_together(beyond, status):
    assert exceeded(PATH_INFO="/" * 100, QUERY_STRING="q" * (LONGEST_URL - 100 + beyond)) == status


@pytest.mark.parametrize(("beyond", "status"), [(0, None), (1, 431)])
@pytest.mark.parametrize("name", ["HTTP_COOKIE", "CONTENT_TYPE"])
def test_each_header(name, beyond, status):
    assert exceeded(**{name: "a" * (LONGEST_HEADER + beyond)}) == status

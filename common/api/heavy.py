"""Calls that take much CPU time. Their views declare it; a process answers them (`config.server.heavy_calls`)."""

import re
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from django.urls import URLPattern, URLResolver, get_resolver

# Of a request whose call may be heavy for that reason.
LARGE_BODY_BYTES = 200 * 1024

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])

_METHODS = ("GET", "POST")
_NAMED = re.compile(r"\(\?P<\w+>")
_END = re.compile(r"(\\Z|\\z|\$)$")


def heavy(endpoint: Endpoint) -> Endpoint:
    """Declare that this method of a view is heavy. The outermost decorator."""
    endpoint.heavy_query = ""  # type: ignore[attr-defined]  # functions have attributes
    return endpoint


def heavy_with(query: str) -> Callable[[Endpoint], Endpoint]:
    """Declare that this method of a view is heavy if the query has this parameter with this value."""

    def declare(endpoint: Endpoint) -> Endpoint:
        endpoint.heavy_query = query  # type: ignore[attr-defined]  # functions have attributes
        return endpoint

    return declare


def heavy_if_large(endpoint: Endpoint) -> Endpoint:
    """Declare that this method of a view is heavy if the body of the request is over LARGE_BODY_BYTES."""
    endpoint.heavy_query = ""  # type: ignore[attr-defined]  # functions have attributes
    endpoint.heavy_if_large = True  # type: ignore[attr-defined]  # as above
    return endpoint


def expressions(*, large: bool = False) -> dict[str, re.Pattern[str]]:
    """By each method, what matches the path and query of its heavy calls, `/path?query`. Reads the URL map.

    `large`: of requests whose body is over LARGE_BODY_BYTES.
    """
    found = list(_declared(get_resolver(), "", large))
    joined = {method: "|".join(expression for of, expression in found if of == method) for method in _METHODS}
    return {method: re.compile(path, re.DOTALL) for method, path in joined.items()}


def _declared(resolver: URLResolver, prefix: str, large: bool) -> Iterator[tuple[str, str]]:
    """Methods with the expressions of their heavy endpoints."""
    for entry in resolver.url_patterns:
        own = _NAMED.sub("(?:", entry.pattern.regex.pattern).removeprefix("^")
        if isinstance(entry, URLResolver):
            yield from _declared(entry, prefix + own, large)
            continue
        for method in _METHODS:
            endpoint = _method(entry, method)
            query = getattr(endpoint, "heavy_query", None)
            if query is not None and (large or not hasattr(endpoint, "heavy_if_large")):
                condition = rf"\?(?:.*&)?{re.escape(query)}(?:&.*)?" if query else r"\?.*"
                yield method, f"/{prefix}{_END.sub('', own)}{condition}"


def _method(entry: URLPattern, method: str) -> Any:
    """What answers this method, or None: a method of a view set, of a view, or a function."""
    view: Any = entry.callback
    if (actions := getattr(view, "actions", None)) is not None:
        return getattr(view.cls, actions.get(method.lower(), ""), None)
    if (view_class := getattr(view, "view_class", None)) is not None:
        return getattr(view_class, method.lower(), None)
    return view

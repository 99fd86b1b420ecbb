"""The order of the endpoints in the description: that of the URLs, and within a view set that of its methods."""

from collections.abc import Callable
from typing import Any

Endpoint = tuple[str, str, str, Callable[..., Any]]  # path, its regular expression, method and view


def by_definition(endpoints: list[Endpoint]) -> list[Endpoint]:
    """A preprocessing hook of drf-spectacular. The router has the methods of a view set in the alphabet's order."""
    views = list(dict.fromkeys(_view(endpoint) for endpoint in endpoints))

    def position(endpoint: Endpoint) -> tuple[int, int]:
        _path, _regex, method, callback = endpoint
        view = _view(endpoint)
        name = getattr(callback, "actions", {}).get(method.lower(), method.lower())
        return views.index(view), list(vars(view)).index(name)

    return sorted(endpoints, key=position)


def _view(endpoint: Endpoint) -> Any:
    return endpoint[3].cls  # type: ignore[attr-defined]  # set by `as_view`

"""HTTP calls, commands and checks of `manage.py demo`, which prints each of them."""

import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import requests
from django.core.management import call_command
from django.db import connection

_TIMEOUT_SECONDS = 20
_LONGEST_LINE = 600


class DemoFailed(Exception):
    """The service deviates from what the demo expects."""


class Client:
    """An API client that prints each request and response. `say` prints a line."""

    def __init__(self, *, url: str, authorization: str, say: Callable[[str], None]) -> None:
        self.url = url.rstrip("/")
        self.say = say
        self._session = requests.Session()
        self._session.trust_env = False
        self._session.headers["Authorization"] = authorization

    def call(self, method: str, path: str, *, expect: int, **options: Any) -> dict[str, Any]:
        """One request. Raises DemoFailed unless the answer has the status `expect`."""
        try:
            response = self._session.request(method, self.url + path, timeout=_TIMEOUT_SECONDS, **options)
        except requests.RequestException as error:
            raise DemoFailed(f"{self.url} does not answer; is `make run` up? ({error})") from error
        self.say(f"→ {method} {path}")
        self.say(f"← {response.status_code} {response.text[:_LONGEST_LINE]}")
        self.check(response.status_code == expect, f"{method} {path} answers {expect}")
        body: dict[str, Any] = response.json()
        return body

    def check(self, condition: bool, what: str) -> None:
        if not condition:
            raise DemoFailed(f"expected: {what}")


def check_service(url: str) -> None:
    """Raise DemoFailed unless the service answers and this command uses its database."""
    try:
        requests.get(f"{url.rstrip('/')}/healthz", timeout=_TIMEOUT_SECONDS).raise_for_status()
    except requests.RequestException as error:
        raise DemoFailed(f"{url} does not answer; is `make run` up? ({error})") from error
    if "delivery_delivery" not in connection.introspection.table_names():
        raise DemoFailed("this database has no tables: use the DATA_DIR, or the URLs, of `make run`")


def command(name: str, *arguments: str) -> dict[str, str]:
    """Result of one of the commands for scripts. Raises DemoFailed when it refuses."""
    out = StringIO()
    try:
        call_command(name, *arguments, stdout=out)
    except SystemExit as stop:
        raise DemoFailed(f"{name} {' '.join(arguments)}: {out.getvalue().strip()}") from stop
    answer: dict[str, str] = json.loads(out.getvalue())
    return answer

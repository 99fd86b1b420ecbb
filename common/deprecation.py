"""Announces the end of an endpoint in the headers of its answers."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.utils.http import http_date
from rest_framework.views import APIView

# docs/guide/versioning.md promises 12 months.
_LEAST = timedelta(days=365)


@dataclass(frozen=True)
class Deprecation:
    """The announcement. Raises ValueError if the endpoint would end earlier than was promised.

    `since`: from when the endpoint is deprecated; `sunset`: until when it works; both aware. `link`: URL of a page that
    says what to use instead.
    """

    since: datetime
    sunset: datetime
    link: str

    def __post_init__(self) -> None:
        if self.sunset - self.since < _LEAST:
            raise ValueError(f"A deprecated endpoint works for {_LEAST.days} days at least.")

    @cached_property
    def headers(self) -> dict[str, str]:
        """`Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the link of both (RFC 8288)."""
        return {
            "Deprecation": f"@{int(self.since.timestamp())}",
            "Sunset": http_date(self.sunset.timestamp()),
            "Link": f'<{self.link}>; rel="deprecation"; type="text/html"',
        }


class DeprecatableView(APIView):
    """Answers with the headers of `deprecation`, also when it refuses a call.

    For one of several endpoints of a view set, hand it to its `action`: `@action(…, deprecation=…)`.
    """

    deprecation: Deprecation | None = None

    @property
    def default_response_headers(self) -> dict[str, str]:
        headers: dict[str, str] = super().default_response_headers
        return headers if self.deprecation is None else headers | self.deprecation.headers

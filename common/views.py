"""What the views of both APIs share: the router, reading of bodies and queries, and an announced end."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rest_framework.request import Request
from rest_framework.routers import SimpleRouter
from rest_framework.views import APIView

from common import payload_warnings
from common.payload_warnings import PayloadWarning, UnknownParameter
from common.serializers import BodySerializer

if TYPE_CHECKING:
    from rest_framework.response import Response
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from django.http import HttpRequest
from django.utils.http import http_date
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.renderers import BaseRenderer
from rest_framework.response import Response

S = TypeVar("S", bound=BodySerializer)
# docs/guide/versioning.md promises 12 months.
_LEAST = timedelta(days=365)


class ApiRouter(SimpleRouter):
    """Paths without a slash at the end, with Django's path converters."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)


class InvalidBody(Exception):
    """A body that the serializer refuses, or with warnings from a caller that prefers strict handling.

    `detail`: the serializer's errors, as DRF nests them. `warnings`: those that are errors here.
    """

    def __init__(self, detail: Any, warnings: list[PayloadWarning]) -> None:
        super().__init__(detail, warnings)
        self.detail, self.warnings = detail, warnings


class InvalidQuery(Exception):
    """Query parameters that are invalid, or unknown and sent by a caller that prefers strict handling.

    `detail`: lists of ErrorDetail by the name of the parameter. `unknown`: those that are errors here.
    """

    def __init__(self, detail: Any, unknown: list[UnknownParameter]) -> None:
        super().__init__(detail, unknown)
        self.detail, self.unknown = detail, unknown


class BodyView(APIView):
    """Answers with the warnings about a body or query in the header `Rota-Warnings`."""

    _warnings: Sequence[PayloadWarning | UnknownParameter] = ()
    _is_strict = False

    def read_body(self, serializer: S) -> S:
        """The serializer, made with the body, after validation. Raises InvalidBody.

        The warnings are the unknown keys, and those of its method `warnings`, if it has one.
        """
        is_valid = serializer.is_valid()
        warnings = payload_warnings.unknown_keys(serializer, serializer.initial_data)
        if is_valid and hasattr(serializer, "warnings"):
            warnings += serializer.warnings()
        self.check_body(serializer.errors, warnings)
        return serializer

    def check_body(self, errors: Any, warnings: list[PayloadWarning]) -> None:
        """Raise InvalidBody for errors of the body, and for warnings if the caller prefers strict handling."""
        self._read_preference()
        self._warnings = warnings
        refused = warnings if self._is_strict else []
        if errors or refused:
            raise InvalidBody(errors, refused)

    def check_query(self, errors: Any, *, known: Collection[str]) -> None:
        """Raise InvalidQuery for errors of the query parameters, and under strict handling for those not `known`."""
        self._read_preference()
        unknown = payload_warnings.unknown_parameters(self.request.GET, known=known)
        self._warnings = unknown
        refused = unknown if self._is_strict else []
        if errors or refused:
            raise InvalidQuery(errors, refused)

    def _read_preference(self) -> None:
        self._is_strict = payload_warnings.is_strict(self.request.headers.get("Prefer", ""))

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> "Response":
        finalized = super().finalize_response(request, response, *args, **kwargs)
        if self._warnings:
            finalized[payload_warnings.HEADER] = payload_warnings.header_value(self._warnings)
        if self._is_strict:
            finalized["Preference-Applied"] = "handling=strict"
        return finalized


class OptionsView(APIView):
    """Answers OPTIONS with 204 and the endpoint's methods in `Allow`, without credentials (RFC 9110, section 9.3.7)."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method != "OPTIONS":
            super().initial(request, *args, **kwargs)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204)  # DRF adds `Allow` to every answer


class AlwaysJSON(BaseContentNegotiation):
    """Always answers in the first renderer's format, JSON, whatever the Accept header says."""

    def select_parser(self, request: Request, parsers: Any) -> BaseParser | None:
        media_type = (request.content_type or "").partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self, request: Request, renderers: Any, format_suffix: str | None = None
    ) -> tuple[BaseRenderer, str]:
        return renderers[0], renderers[0].media_type


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

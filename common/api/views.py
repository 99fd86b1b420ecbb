"""What the views of both APIs share: the router, reading of bodies and queries with warnings, an announced end."""

import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, cached_property
from http import HTTPStatus
from itertools import islice, repeat
from typing import Any, ClassVar, TypeVar
from urllib.parse import quote

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.http import http_date
from rest_framework.fields import ListField
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.parsers import BaseParser
from rest_framework.permissions import SAFE_METHODS
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.routers import SimpleRouter
from rest_framework.serializers import BaseSerializer, ListSerializer
from rest_framework.views import APIView

from common.api.authentication import CALL, REFUSAL, Refusal
from common.api.serializers import BodySerializer
from common.errors import DomainError
from common.http_requests import is_empty

WARNINGS_HEADER = "Rota-Warnings"
# On the answer to a path that no endpoint has (RFC 8288), relative to the address that was called.
HELP_LINK = '</docs/>; rel="help"; type="text/html"'
UNKNOWN_KEY = "unknown_key"
MOST_WARNINGS = 20
_LONGEST_COMPARED = 64  # characters; comparing takes quadratic time
_LONGEST_SHOWN = 100
# What the strings of RFC 9651 hold beside letters and digits, without the quote, the backslash and the percent sign.
_PRINTABLE = " !#$&'()*+,-./:;<=>?@[]^_`{|}~"
_STRICT = re.compile(r'(^|,)\s*handling\s*=\s*("strict"|strict)\s*($|[,;])', re.IGNORECASE)
_LONGEST_PREFER = 500
_LONGEST_HEADER = 4000  # nginx keeps 4 kB for all headers of an answer, unless it is told otherwise

# Fields whose values are objects or lists.
_WITH_MORE = (BaseSerializer, ListField)

Path = tuple[str | int, ...]


@dataclass(frozen=True)
class PayloadWarning:
    """`path`: keys and indexes that lead to the value. `known`: what could be in its place, if that is a short list.

    `nearest`: the known key or value that an unknown one resembles. `values`: further ones that its text names, by
    their names, which are in lower case.
    """

    path: Path
    code: str
    nearest: str = ""
    known: tuple[str, ...] = ()
    values: tuple[tuple[str, str], ...] = ()

    @property
    def pointer(self) -> str:
        """The path as a JSON Pointer (RFC 6901) in its URI fragment form."""
        parts = (str(part)[:_LONGEST_SHOWN].replace("~", "~0").replace("/", "~1") for part in self.path)
        return "#" + "".join("/" + quote(part, safe="~!$&'()*+,;=:@", errors="replace") for part in parts)

    @property
    def dotted(self) -> str:
        """The path with dots: `items.0.price`."""
        return ".".join(str(part)[:_LONGEST_SHOWN] for part in self.path)

    def __str__(self) -> str:
        further = "".join(_parameter(name, value) for name, value in self.values)
        hints = _parameter("nearest", self.nearest) + _parameter("known", *self.known)
        return f'"{self.pointer}";code={self.code}{further}{hints}'


@dataclass(frozen=True)
class UnknownParameter:
    """A query parameter without effect. `name` is cut if it is long. `known`: the parameters of the endpoint."""

    name: str
    known: tuple[str, ...]
    nearest: str = ""
    code: ClassVar[str] = UNKNOWN_KEY

    def __str__(self) -> str:
        name = quote(self.name, safe="~!$&'()*+,;=:@", errors="replace")
        return f'"?{name}";code={UNKNOWN_KEY}{_parameter("nearest", self.nearest)}{_parameter("known", *self.known)}'


def header_value(warnings: Sequence[PayloadWarning | UnknownParameter]) -> str:
    """The value of the header: the first MOST_WARNINGS, one at least, as far as proxies take a header so long."""
    value = ""
    for warning in map(str, warnings[:MOST_WARNINGS]):
        longer = f"{value}, {warning}" if value else warning
        if value and len(longer) > _LONGEST_HEADER:
            break
        value = longer
    return value


def is_strict(prefer: str) -> bool:
    """Whether a Prefer header asks for strict handling."""
    return _STRICT.search(prefer[:_LONGEST_PREFER]) is not None


def unknown_keys(serializer: BodySerializer, body: Any) -> list[PayloadWarning]:
    """The keys of a body that the serializer does not read, the first MOST_WARNINGS of them."""
    if _are_known(serializer, body):
        return []
    return list(islice(_unknown_keys(serializer, body, ()), MOST_WARNINGS))


def unknown_parameters(sent: Iterable[str], *, known: Collection[str]) -> list[UnknownParameter]:
    """The names of query parameters that are not `known`, the first MOST_WARNINGS of them."""
    unknown = islice((name for name in sent if name not in known), MOST_WARNINGS)
    return [UnknownParameter(name[:_LONGEST_SHOWN], tuple(known), nearest(name, known)) for name in unknown]


def _are_known(field: Any, value: Any) -> bool:
    """Whether a value has no unknown key: the usual case, in less time than it takes to visit every key."""
    # Without a call for each value, for the reason that common/api/json_body.py has.
    left = [(field, value)]
    while left:
        field, value = left.pop()
        if isinstance(field, ListSerializer):
            if isinstance(value, list):
                left += zip(repeat(field.child), value)
        elif isinstance(value, dict):
            names, nested = _names(type(field))  # type: ignore[arg-type]  # a class is hashable
            if not value.keys() <= names:
                return False
            for name, inner in nested:
                if name in value:
                    left.append((inner, value[name]))
    return True


@cache
def _names(serializer: type[BodySerializer]) -> tuple[frozenset[str], list[tuple[str, Any]]]:
    """The keys that a body may have, and those of them whose values have keys too, with their serializers."""
    fields = serializer().fields
    nested = [(name, field) for name, field in fields.items() if isinstance(field, BaseSerializer)]
    return frozenset(fields), nested


def _unknown_keys(field: Any, value: Any, path: Path) -> Iterator[PayloadWarning]:
    if isinstance(field, ListSerializer) and isinstance(value, list):
        for index, item in enumerate(value):
            yield from _unknown_keys(field.child, item, (*path, index))
    elif isinstance(field, BodySerializer) and isinstance(value, Mapping):
        known = field.fields
        for key, inner in value.items():
            if key in known:
                yield from _unknown_keys(known[key], inner, (*path, key))
            else:
                yield PayloadWarning((*path, key), UNKNOWN_KEY, _meant_by(field, key, inner))


def _meant_by(field: BodySerializer, key: str, value: Any) -> str:
    """What an unknown key may be instead: for an object or a list only a key that takes one."""
    if (letters := _letters(key)) in field.synonyms:
        return field.synonyms[letters]
    holds_more = isinstance(value, Mapping | list)
    return nearest(
        key, (name for name, known in field.fields.items() if not holds_more or isinstance(known, _WITH_MORE))
    )


def _parameter(name: str, *values: str) -> str:
    """A parameter of an item of the header, percent-encoded; none if its value is empty."""
    text = quote(" ".join(values), safe=_PRINTABLE, errors="replace")
    return f';{name}="{text}"' if text else ""


def nearest(key: str, known: Iterable[str]) -> str:
    """The known key that this one resembles, or an empty text."""
    if len(key) > _LONGEST_COMPARED:
        return ""
    by_letters = {_letters(name): name for name in known}
    found = difflib.get_close_matches(_letters(key), by_letters, n=1)
    return by_letters[found[0]] if found else ""


def _letters(key: str) -> str:
    """A key without what spellings differ in: case, underscores and hyphens."""
    return key.lower().replace("_", "").replace("-", "")


S = TypeVar("S", bound=BodySerializer)
# docs/guide/versioning.md promises 12 months.
_LEAST = timedelta(days=365)


class ApiRouter(SimpleRouter):
    """Paths without a slash at the end, with Django's path converters."""

    def __init__(self) -> None:
        super().__init__(trailing_slash=False, use_regex_path=False)


class InvalidBody(Exception):
    """A body that the serializer refuses, or with warnings from a caller that prefers strict handling.

    `detail`: the serializer's errors, as DRF nests them. `warnings`: those that are errors here. `ignored`: the others.
    `is_empty`: nothing was sent at all.
    """

    def __init__(
        self,
        detail: Any,
        warnings: list[PayloadWarning],
        *,
        ignored: Sequence[PayloadWarning] = (),
        is_empty: bool = False,
    ) -> None:
        super().__init__(detail, warnings)
        self.detail, self.warnings, self.ignored, self.is_empty = detail, warnings, ignored, is_empty


class InvalidQuery(Exception):
    """Query parameters that are invalid, or unknown and sent by a caller that prefers strict handling.

    `detail`: lists of ErrorDetail by the name of the parameter. `unknown`: those that are errors here.
    """

    def __init__(self, detail: Any, unknown: list[UnknownParameter]) -> None:
        super().__init__(detail, unknown)
        self.detail, self.unknown = detail, unknown


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


def changes_nothing(request: HttpRequest) -> bool:
    """Whether the call reads only, by its method or by what its endpoint declares, and so can be repeated."""
    if request.method in SAFE_METHODS:
        return True
    endpoint: Any = request.resolver_match and request.resolver_match.func
    declared: bool = getattr(getattr(endpoint, "cls", None), "changes_nothing", False)
    return bool(getattr(endpoint, "initkwargs", {}).get("changes_nothing", declared))


class ApiView(APIView):
    """Base of the endpoints of both APIs.

    It answers with the warnings about a body or query in the header `Rota-Warnings`, and with the headers of
    `deprecation`, also when it refuses a call; for one of several endpoints of a view set, hand that to its `action`:
    `@action(…, deprecation=…)`. A refusal links the page of its code. It answers OPTIONS with 204 and the endpoint's
    methods in `Allow`, without credentials (RFC 9110, section 9.3.7).

    `changes_nothing`: its POST only reads, so whoever got no answer can repeat it; `@action(…, changes_nothing=True)`.

    `config.openapi.schema` reads `refusal`, the type of the body of errors, and its media type; `invalid_query`, the
    code for invalid query parameters; `errors`, with which each endpoint answers, besides what `raises` declares for
    one of them; `path_parameters`, with `description`, and `schema` unless it is any text, by the name of a parameter
    of the path; `filterset_class`, which reads the query parameters of the list.
    """

    content_negotiation_class = AlwaysJSON
    deprecation: Deprecation | None = None
    changes_nothing = False
    refusal: ClassVar[Any]
    refusal_media_type: ClassVar[str]
    invalid_query: ClassVar[str]
    errors: ClassVar[tuple[type[DomainError], ...]] = ()
    path_parameters: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    filterset_class: ClassVar[Any] = None

    _warnings: Sequence[PayloadWarning | UnknownParameter] = ()
    _is_strict = False

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Answer a call, and leave no view and no answer that refer to each other.

        Their memory, and that of all they refer to, would be kept until the next garbage collection, which stops all
        threads of the process for milliseconds.
        """
        response = super().dispatch(request, *args, **kwargs)
        if isinstance(response, Response):
            response.render()
            response.renderer_context.clear()  # type: ignore[attr-defined]  # `finalize_response` has set it
        if CALL not in request.META:  # otherwise `RefusedCallMiddleware` reads the call
            self.request.parser_context.clear()
        vars(self).clear()
        return response

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method != "OPTIONS":
            super().initial(request, *args, **kwargs)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204)  # DRF adds `Allow` to every answer

    def read_body(self, serializer: S) -> S:
        """The serializer, made with the body, after validation. Raises InvalidBody.

        The warnings are the unknown keys, and those of its method `warnings`, if it has one.
        """
        is_valid = serializer.is_valid()
        warnings = unknown_keys(serializer, serializer.initial_data)
        if is_valid and hasattr(serializer, "warnings"):
            warnings += serializer.warnings()
        self.check_body(serializer.errors, warnings)
        return serializer

    def check_body(self, errors: Any, warnings: list[PayloadWarning]) -> None:
        """Raise InvalidBody for errors of the body, and for warnings if the caller prefers strict handling."""
        self._warn(warnings)
        refused = warnings if self._is_strict else []
        if errors or refused:
            ignored = [] if self._is_strict else warnings
            raise InvalidBody(errors, refused, ignored=ignored, is_empty=is_empty(self.request))

    def check_found(self, warnings: list[PayloadWarning]) -> None:
        """Add warnings that only the action could find. Raises InvalidBody if the caller prefers strict handling."""
        self._warnings = [*self._warnings, *warnings]
        if self._is_strict and warnings:
            raise InvalidBody({}, warnings)

    def check_query(self, errors: Any, *, known: Collection[str]) -> None:
        """Raise InvalidQuery for errors of the query parameters, and under strict handling for those not `known`."""
        unknown = unknown_parameters(self.request.GET, known=known)
        self._warn(unknown)
        refused = unknown if self._is_strict else []
        if errors or refused:
            raise InvalidQuery(errors, refused)

    def _warn(self, warnings: Sequence[PayloadWarning | UnknownParameter]) -> None:
        self._warnings = warnings
        self._is_strict = is_strict(self.request.headers.get("Prefer", ""))

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, DomainError) and exc.values:
            # Not the exception, whose frames lead back to the request.
            self.request.META[REFUSAL] = Refusal(exc.code, exc.message, exc.fields, exc.values)
        return super().handle_exception(exc)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Response:
        finalized = super().finalize_response(request, response, *args, **kwargs)
        if finalized.status_code >= HTTPStatus.BAD_REQUEST and (code := finalized.data.get("code")):
            help_link = f'<{settings.PROBLEM_TYPES}{code}>; rel="help"; type="text/html"'
            finalized["Link"] = ", ".join(filter(None, (finalized.get("Link"), help_link)))
        if self._warnings:
            finalized[WARNINGS_HEADER] = header_value(self._warnings)
        if self._is_strict:
            finalized["Preference-Applied"] = "handling=strict"
        return finalized

    @property
    def default_response_headers(self) -> dict[str, str]:
        headers: dict[str, str] = super().default_response_headers
        return headers if self.deprecation is None else headers | self.deprecation.headers

"""Limits of a request's URL and headers, enforced before Django parses either.

Python and Django parse the headers Cookie and Content-Type in quadratic time, the latter while the request object is
created. So values that are too long are removed from the WSGI environ, and `config.middleware.LimitMiddleware` refuses
the request.
"""

from dataclasses import dataclass
from typing import Any

from django.core.handlers.wsgi import WSGIHandler, WSGIRequest

from config.areas import area_of

LONGEST_HEADER = 8 * 1024
LONGEST_URL = 4 * 1024
# Key of the WSGI environ: the limit that the request exceeded.
TOO_LONG = "rota.too_long"
# And why `config.server.rsgi` did not read the body, `late` or `busy`.
UNREAD_BODY = "rota.unread_body"
# And what became of a heavy call, `running` or `lost`, see `config.server.heavy_calls`.
HEAVY_CALL = "rota.heavy_call"
# Enough of a path to tell the APIs and the pages apart.
_PATH_START = 100


@dataclass(frozen=True)
class TooLong:
    """An exceeded limit: HTTP status, stable code, and the sentence for each area."""

    status: int
    code: str
    english: str
    portuguese: str


_URL = TooLong(
    414,
    "url_too_long",
    f"The URL is longer than {LONGEST_URL // 1024} KiB.",
    f"O endereço é maior que {LONGEST_URL // 1024} KiB",
)


def enforce(environ: dict[str, Any]) -> None:
    """Remove values that are too long from a WSGI environ, and store the exceeded limit there under `TOO_LONG`."""
    if len(environ["PATH_INFO"]) + len(environ.get("QUERY_STRING", "")) > LONGEST_URL:
        environ.update({"PATH_INFO": environ["PATH_INFO"][:_PATH_START], "QUERY_STRING": "", TOO_LONG: _URL})
    for key, value in list(environ.items()):
        if (key.startswith("HTTP_") or key == "CONTENT_TYPE") and len(value) > LONGEST_HEADER:
            environ.update({key: "", TOO_LONG: _header(key.removeprefix("HTTP_").replace("_", "-").title())})


def _header(name: str) -> TooLong:
    kib = LONGEST_HEADER // 1024
    return TooLong(
        431,
        "header_too_long",
        f"The header {name} is longer than {kib} KiB.",
        f"O cabeçalho {name} é maior que {kib} KiB",
    )


class Utf8Request(WSGIRequest):
    """A request whose query and body the APIs read as UTF-8, whatever charset Content-Type names.

    Among Python's codecs are some that take quadratic time (punycode) and some that are no text encodings (rot13).
    Pages refuse every charset but UTF-8, in `config.middleware.PageLocaleMiddleware`.
    """

    def _set_content_type_params(self, meta: dict[str, Any]) -> None:
        try:
            super()._set_content_type_params(meta)  # type: ignore[misc]  # not in the stubs
        except ValueError:  # a parameter in an encoding that Python does not know
            self.content_type, self.content_params = "", {}
        if area_of(self.path_info):
            self.encoding = "utf-8"


class LimitedHandler(WSGIHandler):
    """Django's WSGI application, within the limits."""

    request_class = Utf8Request

    def __call__(self, environ: dict[str, Any], start_response: Any) -> Any:
        enforce(environ)
        return super().__call__(environ, start_response)

"""Parsers that bound the size and depth of a request's body before parsing it."""

import io
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

from common.api import json_body
from common.api.json_body import Fault
from common.http_requests import content_length
from integration.errors import BodyTooLarge, InvoiceMissing, InvoiceTooLarge, MalformedBody
from integration.invoices import nfe

_MOST_LEVELS = 100  # the API's own bodies have 4; further ones are for keys that it ignores
_FAULTS = {
    Fault.EMPTY: "O corpo está vazio. Envie um objeto JSON",
    Fault.COMPRESSED: "O corpo está comprimido com gzip. Envie-o sem compressão",
    Fault.UTF_16: "O corpo está em UTF-16 ou UTF-32. Envie-o em UTF-8",
    Fault.BYTE_ORDER_MARK: "O corpo começa com uma marca de ordem de bytes (BOM, EF BB BF). Envie-o em UTF-8 sem ela",
    Fault.NOT_UTF_8: "O corpo não está em UTF-8: o byte na posição {position} não serve. Talvez esteja em Latin-1",
    Fault.NOT_A_NUMBER: "O corpo contém NaN ou Infinity, que não são valores JSON",
    Fault.LONG_NUMBER: "O corpo contém um número com dígitos demais",
    Fault.SYNTAX: (
        "O corpo não é JSON: erro de sintaxe na linha {line}, coluna {column}. Chaves e textos ficam entre aspas "
        "duplas, e não há vírgula depois do último valor"
    ),
}
# Apart, because an error of area A has the same name, and pages translate the texts of those.
_NOT_AN_OBJECT = "O corpo deve ser um objeto JSON"
_ENCODED_TWICE = f"{_NOT_AN_OBJECT}. É um texto que contém um: codifique-o uma vez só"
# Bytes that multipart/form-data adds to a file: boundaries, part headers, a few other fields.
_MULTIPART_OVERHEAD = 64 * 1024
_MOST_PARTS = 20  # the file and other fields of a form


class BoundedJSONParser(BaseParser):
    """Parses a JSON object of at most MAX_BODY_BYTES and 100 levels; numbers with a fraction become Decimal.

    Raises BodyTooLarge or MalformedBody.
    """

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            return json_body.read_object(
                stream, most_bytes=settings.MAX_BODY_BYTES, most_levels=_MOST_LEVELS, parse_float=_decimal
            )
        except json_body.BodyTooLarge as error:
            kibibytes = settings.MAX_BODY_BYTES // 1024
            raise BodyTooLarge(f"O corpo da requisição é maior que {kibibytes} KiB") from error
        except json_body.BodyTooDeep as error:
            raise MalformedBody(f"O corpo tem mais de {_MOST_LEVELS} níveis") from error
        except json_body.InvalidJSON as error:
            raise MalformedBody(_FAULTS[error.fault].format_map(vars(error))) from error
        except json_body.NotAnObject as error:
            raise MalformedBody(_ENCODED_TWICE if error.is_encoded_twice else _NOT_AN_OBJECT) from error


class BoundedMultiPartParser(MultiPartParser):
    """Parses a form after checking its size and the number of its parts.

    The size checked here is that of the request, from Content-Length and before anything is read, so that a body of any
    length costs nothing. The exact limit of the file itself is checked by `nfe.read`, for every caller.

    Raises InvoiceTooLarge or InvoiceMissing.
    """

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> "DataAndFiles[Any, Any]":  # generic in its stubs only
        request = (parser_context or {})["request"]
        length = content_length(request)
        if length is None or length > nfe.MAX_BYTES + _MULTIPART_OVERHEAD:
            raise InvoiceTooLarge
        body = stream.read(length)
        boundary = request.content_params.get("boundary")
        # Django needs up to a millisecond of CPU for a part with a hostile header, and accepts 1,000 parts.
        if not boundary or body.count(f"--{boundary}".encode()) > _MOST_PARTS + 1:
            raise InvoiceMissing
        try:
            return super().parse(io.BytesIO(body), media_type, parser_context)
        except (ParseError, SuspiciousOperation) as error:  # malformed, or over Django's limits for fields and files
            raise InvoiceMissing from error


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"the exponent of {text} is out of range") from error

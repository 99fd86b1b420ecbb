"""Reading a request's body within bounds."""

import io
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import IO, Any

from django.conf import settings
from django.core.exceptions import SuspiciousOperation
from rest_framework.exceptions import ParseError
from rest_framework.parsers import BaseParser, DataAndFiles, MultiPartParser

from common import json_body
from integration import nfe
from integration.errors import BodyTooLarge, InvoiceMissing, MalformedBody

_DEEPEST = 100
# What multipart/form-data adds to a file: boundaries, headers, a few other fields.
_MULTIPART_OVERHEAD = 64 * 1024
# The file, and what a form may carry beside it.
_MOST_PARTS = 20
# Python refuses to make an int of more than 4300 digits.
_MOST_DIGITS = 20


class BoundedJSONParser(BaseParser):
    """A JSON object of at most MAX_BODY_BYTES and 100 levels, its fractions as Decimal.

    Raises BodyTooLarge or MalformedBody otherwise.
    """

    media_type = "application/json"

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            return json_body.read_object(
                stream, most_bytes=settings.MAX_BODY_BYTES, most_levels=_DEEPEST, parse_float=_decimal
            )
        except json_body.BodyTooLarge as error:
            kibibytes = settings.MAX_BODY_BYTES // 1024
            raise BodyTooLarge(f"O corpo da requisição é maior que {kibibytes} KiB") from error
        except json_body.BodyTooDeep as error:
            raise MalformedBody(f"O corpo tem mais de {_DEEPEST} níveis") from error
        except json_body.InvalidJSON as error:
            raise MalformedBody("O corpo não é JSON em UTF-8") from error
        except json_body.NotAnObject as error:
            raise MalformedBody("O corpo deve ser um objeto JSON") from error


class BoundedMultiPartParser(MultiPartParser):
    """A form whose size is judged before it is read, and the number of its parts before they are.

    Raises BodyTooLarge or InvoiceMissing.
    """

    def parse(
        self, stream: IO[bytes], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> "DataAndFiles[Any, Any]":  # generic in its stubs only
        request = (parser_context or {})["request"]
        length = request.META.get("CONTENT_LENGTH") or "0"
        is_number = len(length) <= _MOST_DIGITS and length.isascii() and length.isdigit()
        if not is_number or int(length) > nfe.MAX_BYTES + _MULTIPART_OVERHEAD:
            raise BodyTooLarge("O arquivo é maior que 2 MiB")
        body = stream.read(int(length))
        boundary = request.content_params.get("boundary")
        # Django takes a millisecond for each part, if its header is made for that, and takes a thousand parts.
        if not boundary or body.count(f"--{boundary}".encode()) > _MOST_PARTS + 1:
            raise InvoiceMissing
        try:
            return super().parse(io.BytesIO(body), media_type, parser_context)
        except (ParseError, SuspiciousOperation) as error:  # malformed, or more fields and files than Django takes
            raise InvoiceMissing from error


def _decimal(text: str) -> Decimal:
    try:
        return Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text} is beyond every exponent") from error

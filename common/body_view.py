"""Reading of request bodies and queries in both APIs, with warnings."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rest_framework.request import Request
from rest_framework.views import APIView

from common import payload_warnings
from common.body_serializer import BodySerializer
from common.payload_warnings import PayloadWarning, UnknownParameter

if TYPE_CHECKING:
    from rest_framework.response import Response

S = TypeVar("S", bound=BodySerializer)


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
        """Raise InvalidQuery for errors of the query parameters, and as for a body for those that are not `known`."""
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

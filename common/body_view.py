"""Reading of request bodies in both APIs, with warnings."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rest_framework.request import Request
from rest_framework.views import APIView

from common import payload_warnings
from common.payload_warnings import PayloadWarning

if TYPE_CHECKING:
    from rest_framework.response import Response
    from rest_framework.serializers import Serializer

S = TypeVar("S", bound="Serializer[Any]")


class InvalidBody(Exception):
    """A body that the serializer refuses, or with warnings from a caller that prefers strict handling.

    `detail`: the serializer's errors, as DRF nests them. `warnings`: those that are errors here.
    """

    def __init__(self, detail: Any, warnings: list[PayloadWarning]) -> None:
        super().__init__(detail, warnings)
        self.detail, self.warnings = detail, warnings


class BodyView(APIView):
    """Answers with the warnings about a body in the header `Rota-Warnings`."""

    _warnings: Sequence[PayloadWarning] = ()
    _is_strict = False

    def read_body(self, serializer: S) -> S:
        """The serializer, made with the body, after validation. Raises InvalidBody.

        The warnings are the unknown keys, and those of its method `warnings`, if it has one.
        """
        self._is_strict = payload_warnings.is_strict(self.request.headers.get("Prefer", ""))
        is_valid = serializer.is_valid()
        warnings = payload_warnings.unknown_keys(serializer, serializer.initial_data)
        if is_valid and hasattr(serializer, "warnings"):
            warnings += serializer.warnings()
        self._warnings = warnings
        refused = warnings if self._is_strict else []
        if refused or not is_valid:
            raise InvalidBody(serializer.errors, refused)
        return serializer

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> "Response":
        finalized = super().finalize_response(request, response, *args, **kwargs)
        if self._warnings:
            finalized[payload_warnings.HEADER] = payload_warnings.header_value(self._warnings)
        if self._is_strict:
            finalized["Preference-Applied"] = "handling=strict"
        return finalized

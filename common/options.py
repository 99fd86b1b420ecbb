"""OPTIONS requests of both APIs."""

from typing import Any

from django.http import HttpRequest
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView


class OptionsView(APIView):
    """Answers OPTIONS with 204 and the endpoint's methods in `Allow`, without credentials (RFC 9110, section 9.3.7)."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        if request.method != "OPTIONS":
            super().initial(request, *args, **kwargs)

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        return Response(status=204)  # DRF adds `Allow` to every answer

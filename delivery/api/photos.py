"""Photos of deliveries, at the signed addresses that other answers and pages contain."""

from typing import Annotated

from django.http import HttpResponse
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from common.json_types import Json
from common.openapi import Answer, raises
from delivery.actions import proofs
from delivery.api.views import IntegratorView
from delivery.errors import PhotoNotFound
from delivery.models import ProofPhoto


class PhotoView(IntegratorView):
    """Without a token, because browsers show the photo: the address is the permission."""

    authentication_classes = []
    permission_classes = [AllowAny]

    @extend_schema(
        operation_id="get-photo",
        tags=["Find and read"],
        responses={(200, "image/jpeg"): Answer(Annotated[str, Json(format="binary")], "The photo.")},
    )
    @raises(PhotoNotFound)
    def get(self, _request: Request, signed: str) -> HttpResponse:
        """Read a photo.

        A photo that the driver took. The address is in `orders[].proof.photos[].url` of get-delivery. It needs no
        token, and works for an hour.
        """
        photo = ProofPhoto.find(signed)
        content = proofs.read(photo) if photo else None
        if content is None:
            raise PhotoNotFound("The address is not one of a photo, is older than an hour, or the photo was deleted.")
        headers = {"Content-Disposition": 'inline; filename="photo.jpg"'}
        return HttpResponse(content, content_type="image/jpeg", headers=headers)

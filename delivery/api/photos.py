"""Photos of deliveries, at the signed addresses that other answers and pages contain."""

from django.http import HttpResponse
from rest_framework.permissions import AllowAny
from rest_framework.request import Request

from delivery.actions import proofs
from delivery.api.views import IntegratorView
from delivery.errors import PhotoNotFound
from delivery.models import ProofPhoto


class PhotoView(IntegratorView):
    """GET /api/photos/{signed}: a photo. Without a token, because browsers show it: the address is the permission."""

    authentication_classes = []
    permission_classes = [AllowAny]

    def get(self, _request: Request, signed: str) -> HttpResponse:
        photo = ProofPhoto.find(signed)
        content = proofs.read(photo) if photo else None
        if content is None:
            raise PhotoNotFound("The address is not one of a photo, is older than an hour, or the photo was deleted.")
        headers = {"Content-Disposition": 'inline; filename="photo.jpg"'}
        return HttpResponse(content, content_type="image/jpeg", headers=headers)

"""Photos that drivers take at stops."""

from django.http import HttpRequest, HttpResponse, JsonResponse

from common import clock
from delivery.actions import proof_photos
from delivery.photos import MOST_BYTES
from driver_app import reports
from driver_app.views.base import PhoneView


class Photos(PhoneView):
    """POST: keeps the photo that is the body. The query says what it shows, and has the phone's own id of it.

    201 with the id, 200 for one that was kept before.
    """

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        photo = reports.photo(request.GET.dict(), at=now)
        # Not `request.body`, which has a lower limit. One byte more shows that the photo is too large.
        content = request.read(MOST_BYTES + 1)
        _photo, is_new = proof_photos.add(
            driver=self.device.driver,
            upload=photo.upload,
            delivery=photo.delivery,
            point=photo.point,
            taken_at=photo.taken_at,
            content=content,
            at=now,
        )
        return JsonResponse({"id": str(photo.upload)}, status=201 if is_new else 200)

"""Photos that drivers take at stops."""

from datetime import timedelta

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import gettext as _

from common import attempts, clock
from common.attempts import Limit, TooManyAttempts
from delivery.actions import proof_photos
from delivery.driver_app import reports
from delivery.driver_app.views.base import PhoneView, error
from delivery.driver_errors import InvalidPhoto, PhotosBusy
from delivery.errors import DeliveryError
from delivery.photos import MOST_BYTES

# A phone makes its photos itself, so that none is refused. Each may occupy the encoder for seconds.
REFUSED = Limit("refused photos and driver", 10, timedelta(minutes=10))
# An upload takes at most half a minute. The window ends one of a process that was killed.
AT_ONCE = Limit("uploads at once and driver", 1, timedelta(minutes=1))


class Photos(PhoneView):
    """POST: keeps the photo that is the body. The query says what it shows, and has the phone's own id of it.

    201 with the id, 200 for one that was kept before.
    """

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        driver = str(self.device.driver_id)
        try:
            upload = attempts.count(AT_ONCE, driver)
        except TooManyAttempts as busy:
            raise PhotosBusy("Other photos are being read. Send it again in a moment.") from busy
        try:
            return self._answer(request, driver)
        finally:
            upload.forgive()

    def _answer(self, request: HttpRequest, driver: str) -> HttpResponse:
        try:
            refused = attempts.count(REFUSED, driver)
        except TooManyAttempts:
            return error(
                429, "too_many_refused_photos", _("Too many photos could not be used. Try again in ten minutes.")
            )
        try:
            answer = self._keep(request)
        except InvalidPhoto:
            raise
        except DeliveryError:
            refused.forgive()
            raise
        refused.forgive()
        return answer

    def _keep(self, request: HttpRequest) -> HttpResponse:
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

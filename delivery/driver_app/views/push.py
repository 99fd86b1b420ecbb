"""Web Push: the browser's subscription of a phone, which is told of offers while the page is closed."""

from django.http import HttpRequest, HttpResponse, JsonResponse

from common import clock
from delivery.actions import push_subscriptions
from delivery.driver_app import reports
from delivery.driver_app.views.base import PhoneView


class Push(PhoneView):
    """GET answers the key to subscribe with, null where no messages are sent; POST takes a PushSubscription."""

    http_method_names = ["get", "post", "delete"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return JsonResponse({"publicKey": push_subscriptions.public_key()})

    def post(self, _request: HttpRequest) -> HttpResponse:
        push_subscriptions.save(device=self.device, **reports.subscription(self.body()), at=clock.now())
        return HttpResponse(status=204)

    def delete(self, _request: HttpRequest) -> HttpResponse:
        push_subscriptions.delete(device=self.device)
        return HttpResponse(status=204)

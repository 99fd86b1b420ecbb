"""The sheet with the access data of an account, to print and hand over."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from common import clock
from common.actors import actor
from delivery.actions import endpoints
from delivery.models import Environment, Token
from panel.account_setup import ISSUED
from panel.views.setup import StaffAccountView


class Sheet(StaffAccountView):
    """Shows new tokens once, and the signing secrets, which is recorded."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return redirect(self.url("setup"))

    def post(self, request: HttpRequest) -> HttpResponse:
        fresh = Token.objects.filter(pk__in=request.session.pop(ISSUED, []), integrator=self.account)
        clear = {token.environment: token.clear_text for token in fresh}
        by, at = actor(request), clock.now()
        parts = [
            {
                "environment": Environment(endpoint.environment),
                "token": clear.get(endpoint.environment),
                "url": endpoint.url,
                "secret": endpoints.show_secret(endpoint=endpoint, by=by, at=at),
            }
            for endpoint in self.account.endpoints.order_by("-environment")
        ]
        base = request.build_absolute_uri("/").rstrip("/")
        return self.page("panel/sheet.html", parts=parts, has_tokens=bool(clear), base=base, at=at)

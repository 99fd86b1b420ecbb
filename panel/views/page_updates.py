"""Streams that tell a page what has changed. `config.rsgi` sends them in place of the answers of these views."""

from django.http import HttpRequest, HttpResponse

from common.page_updates import STREAM, StreamRequest
from delivery import page_updates
from panel.views.base import AccountView, DispatcherView

# Where there is no stream: `live.js` loads what it shows every ten seconds, and asks for a stream again.
_WITHOUT_STREAM = "retry: 10000\nevent: away\ndata: -\n\n"


class BoardUpdates(DispatcherView):
    """For the dispatch board: deliveries of all accounts, and drivers."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest, environment: str) -> HttpResponse:
        return _stream(request, page_updates.board(environment))


class AccountUpdates(AccountView):
    """For pages of an account: its deliveries and webhooks."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        account = page_updates.account(self.account.pk, self.environment)
        return _stream(request, account, page_updates.endpoint(self.endpoint.pk))


def _stream(request: HttpRequest, *topics: str) -> HttpResponse:
    request.META[STREAM] = StreamRequest(topics, user=str(request.user.pk))
    # nginx gathers an answer before it passes it on, unless this header forbids it.
    return HttpResponse(_WITHOUT_STREAM, content_type="text/event-stream", headers={"X-Accel-Buffering": "no"})

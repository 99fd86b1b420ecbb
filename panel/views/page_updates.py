"""Streams that tell a page what has changed (`config.page_streams`)."""

from django.http import HttpRequest, HttpResponse

from common.page_updates import stream
from delivery import page_updates
from panel.views.base import AccountView, DispatcherView


class BoardUpdates(DispatcherView):
    """For the dispatch board: deliveries of all accounts, and drivers."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest, environment: str) -> HttpResponse:
        return stream(request, page_updates.board(environment), user=str(request.user.pk))


class AccountUpdates(AccountView):
    """For pages of an account: its deliveries and webhooks."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        account = page_updates.account(self.account.pk, self.environment)
        return stream(request, account, page_updates.endpoint(self.endpoint.pk), user=str(request.user.pk))

"""Refused calls of an account or a seller: what was sent, without personal data, and what was answered."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404

from common import clock
from common.api import refused_calls as technique
from common.postgresql.replica import may_be_old
from delivery.models import RefusedDeliveryCall
from delivery.models import call as with_token
from integration.models import RefusedSellerCall
from integration.models import call as with_key
from panel.base import AccountView, SellerView
from panel.filters import RefusedCallFilter, listed


class RefusedCalls(AccountView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        calls = RefusedDeliveryCall.objects.filter(integrator=self.account, environment=self.environment)
        totals = with_token.RECORDER.totals(integrator=self.account, environment=self.environment, at=now)
        return self.page("panel/refused_calls.html", totals=totals, **_listed(request.GET, calls, now=now))


class RefusedCall(AccountView):
    def get(self, request: HttpRequest, call: UUID) -> HttpResponse:
        own = {"integrator": self.account, "environment": self.environment}
        return self.page("panel/refused_call.html", call=get_object_or_404(RefusedDeliveryCall, pk=call, **own))


class SellerRefusedCalls(SellerView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        calls = RefusedSellerCall.objects.filter(**self.scope)
        totals = with_key.RECORDER.totals(**self.scope, at=now)
        return self.page("panel/refused_calls.html", totals=totals, **_listed(request.GET, calls, now=now))


class SellerRefusedCall(SellerView):
    def get(self, request: HttpRequest, call: UUID) -> HttpResponse:
        found = get_object_or_404(RefusedSellerCall, pk=call, **self.scope)
        return self.page("panel/refused_call.html", call=found)


def _listed(query: QueryDict, calls: QuerySet[Any], *, now: datetime) -> dict[str, Any]:
    """What the list shows. Rows that are older than they are kept may not have been deleted yet."""
    kept = calls.filter(created_at__gte=now - technique.KEPT)
    return {**listed(RefusedCallFilter, query, kept), "most": technique.MOST_STORED}

"""The audit log of an account."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse

from common.replica import may_be_old
from delivery.models import AuditEntry
from panel.views.base import AccountView

_PER_PAGE = 50


class Activity(AccountView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        entries = AuditEntry.objects.filter(integrator=self.account, environment=self.environment)
        page = Paginator(entries, _PER_PAGE).get_page(request.GET.get("page"))
        return self.page("panel/activity.html", entries=page)

"""The audit log of accounts, and the transitions of deliveries."""

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from common.actors import actor_name
from common.admin_base import LargeTable, ModelAdmin, Unchangeable, column, linked
from common.formats import moment
from delivery.admin.labels import CHANGE
from delivery.models import AuditEntry, Stop, Transition, parse_id

_WHEN = column("at", _("when"), moment)
_WHO = column("by", _("who"), actor_name)


@admin.register(AuditEntry)
class AuditEntryAdmin(LargeTable, Unchangeable, ModelAdmin):
    """A small table, so filters without an index are fast enough."""

    list_display = [_WHEN, "action", _WHO, "integrator", column("subject", _("object"), str), "environment"]
    fields = list_display
    nothing_yet = _("Nothing recorded yet: tokens, webhooks and members of accounts leave an entry each.")
    list_filter = ["action", "environment", ("at", admin.DateFieldListFilter)]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name", "by", "subject"]
    ordering = ["-id"]


@admin.register(Transition)
class TransitionAdmin(LargeTable, Unchangeable, ModelAdmin):
    list_display = [_WHEN, *CHANGE, _WHO, column("delivery", _("delivery"), linked)]
    fields = [_WHEN, *CHANGE, _WHO, "delivery"]
    nothing_yet = _("Nothing has moved yet.")
    list_filter = [("at", admin.DateFieldListFilter)]
    list_select_related = ["delivery"]
    search_fields = ["delivery__stops__external_id"]
    search_help_text = _("Id, external id, or who (user ana), whole")
    ordering = ["-id"]

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Transition], search_term: str
    ) -> tuple[QuerySet[Transition], bool]:
        """Exact matches only, each by its index."""
        term = search_term.strip()
        if not term:
            return queryset, False
        if key := parse_id(term):
            return queryset.filter(delivery=key), False
        if Transition.objects.filter(by=term).exists():
            return queryset.filter(by=term), False
        return queryset.filter(Stop.refers_to("delivery", external_id=term)), False

"""Manifests: read-only. They are changed by their sellers, in the panel and by the API."""

from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from common.actors import actor_name
from common.admin.base import CREATED_BY, LargeTable, ModelAdmin, ReadOnlyInline, Unchangeable, column, pill
from common.admin.filters import LookUpFilter
from common.brazil.formats import centavos
from integration.accounts.admin import SELLER
from integration.admin.orders import COST, STATE
from integration.models import Manifest, ManifestEntry


class EntryInline(ReadOnlyInline):
    model = ManifestEntry
    fields = ["order", "status", "recipient", "cost", "freight"]
    verbose_name_plural = _("orders")

    def get_queryset(self, request: HttpRequest) -> QuerySet[ManifestEntry]:
        return super().get_queryset(request).select_related("order")

    @admin.display(description=_("status"))
    def status(self, entry: ManifestEntry) -> str:
        return STATE(entry.order)

    @admin.display(description=_("receiver"))
    def recipient(self, entry: ManifestEntry) -> str:
        return entry.order.receiver_name

    @admin.display(description=_("order value"))
    def cost(self, entry: ManifestEntry) -> str:
        return COST(entry.order)

    @admin.display(description=_("freight"))
    def freight(self, entry: ManifestEntry) -> str | None:
        amount = entry.order.freight_centavos
        return None if amount is None else centavos(amount)


@admin.register(Manifest)
class ManifestAdmin(Unchangeable, LargeTable, ModelAdmin):
    list_display = [
        column("pk", _("manifest"), str), "state", "environment", SELLER, "orders", "created_at", CREATED_BY,
        "closed_at",
    ]  # fmt: skip  # a list of names
    list_filter = ["environment", ("seller", LookUpFilter)]
    list_filter_submit = True  # the filter by seller has a field
    list_select_related = ["seller"]
    nothing_yet = _("No manifest yet. Sellers open them in the panel or by the API.")
    readonly_fields = [
        "state", "environment", "seller", "created_at", CREATED_BY, "closed_at",
        column("closed_by", _("closed by"), actor_name),
    ]  # fmt: skip  # a list of names
    fieldsets = [(None, {"classes": ["rota-facts"], "fields": readonly_fields})]
    inlines = [EntryInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Manifest]:
        return super().get_queryset(request).annotate(order_count=Count("entries"))

    @admin.display(description=_("status"))
    def state(self, manifest: Manifest) -> str:
        if manifest.closed_at:
            return pill(pgettext("manifest", "Closed"), "good")
        return pill(pgettext("manifest", "Open"), "warn")

    @admin.display(description=_("orders"))
    def orders(self, manifest: Manifest) -> int:
        count: int = vars(manifest)["order_count"]
        return count

"""Labels of a seller's orders, and manifests: the list, the page of one, its file, and what can be done with it."""

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from common import clock
from common.actors import actor
from common.api.heavy import heavy
from common.postgresql.replica import may_be_old
from integration import words
from integration.errors import IntegrationError
from integration.invoices.models import with_labels
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import Manifest, ManifestEntry, Order
from integration.models.manifest import MOST_ORDERS
from integration.models.order import LONGEST_CODE
from integration.papers import files, label
from panel.base import SellerView
from panel.filters import ListFilter, find_orders, listed
from panel.forms import LabelForm

_LONGEST_KEY = 18  # digits, with which every number is a bigint
_LONGEST_FILTERS = 2_000  # characters of a query
_MOST_OFFERED = 20  # orders that the page of a manifest offers to add
# The API's own messages are always Portuguese.
_REFUSALS = {
    "order_cancelled": gettext_noop("Order %(order)s is cancelled."),
    "order_forgotten": gettext_noop("The receiver of order %(order)s is anonymised, so that there is no address."),
    "too_many_labels": gettext_noop("These orders have more than %(most)s volumes, the most that one file holds."),
    "in_open_manifest": gettext_noop("Order %(order)s already stands in the open manifest %(manifest)s."),
    "order_not_pending": gettext_noop("Order %(order)s does not wait for collection any more: it is '%(status)s'."),
    "manifest_closed": gettext_noop("The manifest is closed and cannot be changed any more."),
    "manifest_empty": gettext_noop("The manifest has no order. Delete it."),
    "manifest_full": gettext_noop("A manifest has %(most)s orders at most."),
    "order_not_found": gettext_noop("An order was not found."),
    "manifest_not_found": gettext_noop("The manifest was deleted meanwhile."),
}


class ManifestFilter(ListFilter):
    class Meta:
        model = Manifest
        fields: list[str] = []


class _ActingView(SellerView):
    """A page that does something with orders or a manifest. A refusal is a message on the page that it leads to."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().dispatch(request, *args, **kwargs)
        except IntegrationError as error:
            faults = [*error.faults.values()] or [error]
            if any(fault.code not in _REFUSALS for fault in faults):
                raise
            for text in dict.fromkeys(map(_refusal, faults)):
                messages.error(request, text)
            return redirect(self._list())

    def _list(self) -> str:
        """The address of the list of orders, with the filters that it had."""
        kept = QueryDict(self.request.POST.get("filters", "")[:_LONGEST_FILTERS]).urlencode()
        return self.url("seller_orders") + (f"?{kept}" if kept else "")

    @property
    def chosen(self) -> list[Order]:
        """The orders that are ticked, the first MOST_ORDERS of them, as their list shows them."""
        sent = self.request.POST.getlist("order")[:MOST_ORDERS]
        keys = [key for key in sent if key.isascii() and key.isdigit() and len(key) <= _LONGEST_KEY]
        found = {order.pk: order for order in with_labels(self.orders.filter(pk__in=keys).order_by())}
        return [found[int(key)] for key in dict.fromkeys(keys) if int(key) in found]

    @property
    def manifests(self) -> Any:
        return Manifest.objects.of(self.seller, self.environment)

    def found(self, manifest: int) -> Manifest:
        """Answers 404 for another seller's manifest."""
        self.seller.check_active()
        found: Manifest = get_object_or_404(self.manifests, pk=manifest)
        return found


def _refusal(error: IntegrationError) -> str:
    values = {**error.values}
    if "status" in values:
        values["status"] = words.STATUSES[str(values["status"])]
    return _(_REFUSALS[error.code]) % values


def _tell_left_out(request: HttpRequest, faults: Sequence[IntegrationError]) -> None:
    """Messages about the orders that were not taken."""
    for text in dict.fromkeys(map(_refusal, faults)):
        messages.warning(request, _("Left out: %(why)s") % {"why": text})


class Labels(_ActingView):
    """The labels of the orders that are ticked, or of the one on whose page it was asked for."""

    @heavy
    def post(self, request: HttpRequest) -> HttpResponse:
        form, chosen = LabelForm(request.POST), self.chosen
        if not form.is_valid() or not chosen:
            messages.error(request, _("Tick the orders, and choose the paper."))
            return redirect(self.url("seller_orders"))
        return files.labels(label.check(chosen), **form.cleaned_data)


class Manifests(_ActingView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(ManifestFilter, request.GET, self.manifests)
        keys = [row.pk for row in shown["rows"]]
        first = ManifestEntry.objects.filter(manifest=OuterRef("pk")).order_by("pk")
        counted = Manifest.objects.filter(pk__in=keys).annotate(codes=ArraySubquery(first.values("order__code")))
        codes = dict(counted.values_list("pk", "codes"))
        for row in shown["rows"]:
            row.codes = codes.get(row.pk, [])
        return self.page("panel/seller_manifests.html", in_zone_of=self.seller, **shown)

    def post(self, request: HttpRequest) -> HttpResponse:
        """Open one with the orders that are ticked."""
        self.seller.check_active()
        chosen = self.chosen
        if not chosen:
            messages.error(request, _("Tick the orders that are handed over."))
            return redirect(self._list())
        made, faults = manifests.leaving_out(
            lambda fit: manifests.create(
                seller=self.seller, environment=self.environment, orders=fit, by=actor(request), at=clock.now()
            ),
            chosen,
        )
        count = len(chosen) - len(faults)
        text = ngettext(
            "Manifest %(manifest)s is open with %(count)s order.",
            "Manifest %(manifest)s is open with %(count)s orders.",
            count,
        )
        messages.success(request, text % {"manifest": made, "count": count})
        _tell_left_out(request, faults)
        return redirect(self.url("seller_manifest", made.pk))


class ManifestPage(SellerView):
    """One manifest with its orders, and those that can be added to it while it is open."""

    def get(self, request: HttpRequest, manifest: int) -> HttpResponse:
        rows = Manifest.objects.of(self.seller, self.environment).with_orders()
        found = get_object_or_404(rows, pk=manifest)
        moved = [order for order in found.in_order if order.status != Status.PENDING]
        may_change = not found.closed_at and not self.seller.suspended_at
        searched = request.GET.get("q", "").strip()[:LONGEST_CODE]
        return self.page(
            "panel/seller_manifest.html",
            in_zone_of=found,
            manifest=found,
            totals=found.totals,
            orders=_orders_of(found),
            moved=moved if not found.closed_at else [],
            may_change=may_change,
            words=searched,
            waiting=self._waiting(searched) if may_change else [],
            most=_MOST_OFFERED,
        )

    def _waiting(self, searched: str) -> QuerySet[Order]:
        """The newest orders that wait for collection and stand in no manifest, of those that fit the words."""
        if "\0" in searched:
            return self.orders.none()
        chosen = find_orders(self.orders, self.scope, searched) if searched else self.orders
        entries = ManifestEntry.objects.filter(order=OuterRef("pk"))
        free = chosen.filter(~Exists(entries), status=Status.PENDING)
        return free.order_by("-created_at", "-pk")[:_MOST_OFFERED]


class ManifestFile(SellerView):
    """The manifest as PDF, to print and to sign."""

    @heavy
    def get(self, request: HttpRequest, manifest: int) -> HttpResponse:
        rows = Manifest.objects.of(self.seller, self.environment).with_orders()
        return files.manifest(get_object_or_404(rows, pk=manifest))


def _orders_of(manifest: Manifest) -> str:
    """What the question before a manifest is closed is about."""
    return ",".join(map(str, manifest.entries.order_by("pk").values_list("order", flat=True)))


class CloseManifest(_ActingView):
    def post(self, request: HttpRequest, manifest: int) -> HttpResponse:
        found = self.found(manifest)
        orders = _orders_of(found)
        if request.POST.get("orders", orders) != orders:
            messages.error(request, _("The orders of the manifest have changed meanwhile. Look at them again."))
            return redirect(self.url("seller_manifest", found.pk))
        manifests.close(manifest=found, by=actor(request), at=clock.now())
        messages.success(request, _("The manifest is closed and its orders are collected."))
        return redirect(self.url("seller_manifest", found.pk))


class AddToManifest(_ActingView):
    def post(self, request: HttpRequest, manifest: int) -> HttpResponse:
        found, chosen = self.found(manifest), self.chosen
        if chosen:
            by = actor(request)
            _none, faults = manifests.leaving_out(lambda fit: manifests.add(manifest=found, orders=fit, by=by), chosen)
            count = len(chosen) - len(faults)
            text = ngettext("%(count)s order is added.", "%(count)s orders are added.", count)
            messages.success(request, text % {"count": count})
            _tell_left_out(request, faults)
        else:
            messages.error(request, _("Tick the orders that are handed over."))
        return redirect(self.url("seller_manifest", found.pk))


class RemoveFromManifest(_ActingView):
    def post(self, request: HttpRequest, manifest: int) -> HttpResponse:
        found = self.found(manifest)
        manifests.remove(manifest=found, orders=self.chosen, by=actor(request))
        messages.success(request, _("The order is removed. It can be put into another manifest."))
        return redirect(self.url("seller_manifest", found.pk))


class DeleteManifest(_ActingView):
    def post(self, request: HttpRequest, manifest: int) -> HttpResponse:
        manifests.delete(manifest=self.found(manifest), by=actor(request))
        messages.success(request, _("The manifest is deleted. Its orders can be put into another one."))
        return redirect(self.url("seller_manifests"))

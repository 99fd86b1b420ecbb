"""A seller's orders: the list and its file; the page of one, moving and cancelling it, and its invoices."""

from collections.abc import Iterator
from datetime import datetime
from itertools import pairwise
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.db.models import Prefetch, QuerySet, prefetch_related_objects
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils import timezone
from django.utils.translation import gettext as _

from common import clock
from common.accounts import Environment
from common.actors import actor
from common.api.heavy import heavy
from common.files import table_files
from common.postgresql.replica import may_be_old
from integration import refusals, words
from integration.actions import orders
from integration.actions.orders import Details
from integration.columns import ORDER
from integration.errors import InvalidStatusReport, MoveRefused
from integration.invoices.models import Invoice, InvoiceLink
from integration.lifecycle import TABLE, Status
from integration.models import Order, Simulation, WebhookEndpoint
from integration.move_forms import MoveForm
from integration.sandbox import by_hand
from panel import attention
from panel.base import SellerView
from panel.filters import NEWEST, InvoiceFilter, OrderFilter, all_rows, listed
from panel.forms import LabelForm
from panel.sellers.invoice_uploads import keep_uploaded

# The statuses of an order without trouble, in their order.
_WAY = (Status.PENDING, Status.COLLECTED, Status.IN_TRANSIT, Status.OUT_FOR_DELIVERY, Status.DELIVERED)
_MOST_INVOICES = 5  # that the page of an order offers to link
_LONGEST_WORDS = 255


def _links() -> "Prefetch[Any]":
    """The invoices of orders, with what `Invoice.differs` reads."""
    links = InvoiceLink.objects.select_related("invoice").defer("invoice__raw")
    return Prefetch("invoice_links", links.prefetch_related("invoice__links__order__invoice_links"))


class Orders(SellerView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(OrderFilter, request.GET, self.orders, **self.list_options)
        prefetch_related_objects(shown["rows"], "company", "carrier", "manifest_entries", _links())
        endpoints = list(WebhookEndpoint.objects.of(self.seller.pk, self.environment))
        notices = attention.of_webhooks(endpoints, at=clock.now()) if endpoints else []
        return self.page(
            "panel/seller_orders.html",
            in_zone_of=self.seller,
            newest=NEWEST,
            label_form=LabelForm(),
            notices=notices,
            **shown,
        )


class OrdersExport(SellerView):
    """The list with the same filters."""

    @heavy
    @may_be_old
    def get(self, request: HttpRequest) -> Any:
        return table_files.response(
            request, self.file_name("orders"), columns=table_files.of_rows(ORDER), rows=self._rows()
        )

    def _rows(self) -> Iterator[Order]:
        for found, _searched_until in all_rows(OrderFilter, self.request.GET, self.orders, **self.list_options):
            prefetch_related_objects(found, "company", "carrier")
            yield from found


def _next_status(order: Order) -> Status | None:
    """The usual status after that of the order; None after the last one, and for an order with trouble."""
    current = Status(order.status)
    return next((after for status, after in pairwise(_WAY) if status == current), None)


class OrderPage(SellerView):
    """One order: its way as tracking shows it, freight, parcels, receiver and invoices, and what can be done now."""

    def get(self, request: HttpRequest, order: int) -> HttpResponse:
        found = self.found(order)
        return self.show(found, self.move_form(found))

    def found(self, key: int) -> Order:
        rows = self.orders.select_related("company", "carrier").prefetch_related("status_log", "corrections", _links())
        return get_object_or_404(rows, pk=key)

    def move_form(self, order: Order, data: QueryDict | None = None) -> MoveForm | None:
        """The form of the moves that the person may make now; None without one."""
        is_test = order.environment == Environment.SANDBOX
        may_move = not self.seller.suspended_at if is_test else _may_move(self.request)
        return MoveForm(order, data, needs_code=not is_test) if may_move and TABLE[Status(order.status)] else None

    def show(self, order: Order, form: MoveForm | None, *, status: int = 200) -> HttpResponse:
        searched = self.request.GET.get("invoice", "").strip()
        own = set(self.seller.companies.values_list("document", flat=True))
        linked = [link.invoice for link in order.invoice_links.all()]
        return self.page(
            "panel/seller_order.html",
            status=status,
            in_zone_of=order.company,
            order=order,
            move_form=form,
            next_step=_next_step(order),
            foreign=[invoice for invoice in linked if invoice.is_foreign(own)],
            parcels=order.parcels,
            next_status=_next_status(order),
            simulator=_shipment(order),
            label_form=LabelForm(),
            carriers=order.possible_carriers if self.request.user.has_perm("integration.assign_order") else (),
            later=_later(order),
            link=order.tracking_url if order.link_works(at=clock.now()) else None,
            may_cancel=Status.CANCELLED in TABLE[Status(order.status)] and not self.seller.suspended_at,
            words=searched,
            linkable=self._linkable(order, searched),
        )

    def _linkable(self, order: Order, words: str) -> QuerySet[Invoice]:
        """Invoices to link by hand: those that fit the words, or the newest without an order."""
        own = self.invoices
        if words:
            query = QueryDict(mutable=True)
            query["q"] = words[:_LONGEST_WORDS]
            chosen = InvoiceFilter(query, queryset=own, scope=self.scope).qs if "\0" not in words else own.none()
        else:
            chosen = own.filter(is_linked=False)
        linked = [link.invoice_id for link in order.invoice_links.all()]
        free: QuerySet[Invoice] = chosen.filter(is_void=False).exclude(pk__in=linked).defer("raw")
        return free.order_by("-received_at", "-pk")[:_MOST_INVOICES]


def _shipment(order: Order) -> str:
    """The query of the freight simulator for one volume of this order; empty without an origin."""
    package, address = order.package, order.receiver.get("address") or {}
    if not order.company.postcode or not address.get("zipCode"):
        return ""
    return urlencode(
        {
            "origin": order.company.postcode,
            "destination": address["zipCode"],
            "weight": f"{(package.weight_g or 0) / 1000:g}",
            "length": package.length_cm,
            "width": package.width_cm,
            "height": package.height_cm,
            "declared": f"{package.declared_centavos / 100:.2f}",
        }
    )


def _later(order: Order) -> Order | None:
    """The order that has the code of this cancelled one now."""
    if not order.code_reused:
        return None
    return Order.objects.by_code(order.seller, order.environment, order.code)


def _may_move(request: HttpRequest) -> bool:
    """Whether the person may move live orders, as in the admin or on the page Scan."""
    return any(request.user.has_perm(f"integration.{right}_order") for right in ("change", "scan"))


def _next_step(order: Order) -> str:
    """What happens by itself to an order of the sandbox that has not ended; empty for others."""
    if order.environment != Environment.SANDBOX or not TABLE[Status(order.status)]:
        return ""
    simulation = Simulation.objects.filter(pk=order.pk).first()
    step = simulation.next_step(order) if simulation else None
    if simulation is None or step is None or simulation.due_at is None:
        return _("Nothing happens by itself: the order waits for your moves.")
    seconds = max(round((simulation.due_at - clock.now()).total_seconds()), 0)
    text = _("The simulated carrier makes it “%(status)s” in about %(time)s. After a move of yours it makes none.")
    return text % {"status": words.STATUSES[step.status], "time": f"{seconds}\N{NO-BREAK SPACE}s"}


class MoveOrder(OrderPage):
    """A move by hand: of a test order by anybody who sees it, of a live one by staff who may do it in the admin too."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, order: int) -> HttpResponse:
        found = self.found(order)
        if found.environment == Environment.SANDBOX:
            self.seller.check_active()
        elif not _may_move(request):
            raise PermissionDenied
        with timezone.override(found.company.zone):  # moments are typed in that of the page
            form = self.move_form(found, request.POST)
            is_valid = form is not None and form.is_valid()
        if form is None:
            messages.error(request, _("No move is possible: the order is closed."))
            return redirect(self.url("seller_order", found.pk))
        target = form.status if is_valid else None
        if target is None:
            return self.show(found, form, status=422)
        try:
            moved = _moved(found, target, form.details, by=actor(request), at=clock.now())
        except MoveRefused as refused:
            if refused.values["current"] == target:
                text = _("The order has an entry that says the same. Say another reason, place or moment.")
            else:  # it was moved meanwhile
                text = _("The order's status has changed and does not allow this move any more.")
            messages.error(request, text)
            found = self.found(order)
            return self.show(found, self.move_form(found, request.POST), status=422)
        except InvalidStatusReport as error:
            with timezone.override(found.company.zone):
                form.add_error("happened_at", refusals.refusal(error))
            return self.show(found, form, status=422)
        messages.success(request, _("The order is now: %(status)s.") % {"status": moved.get_status_display()})
        return redirect(self.url("seller_order", found.pk))


def _moved(order: Order, target: Status, details: Details, *, by: str, at: datetime) -> Order:
    move = by_hand.perform if order.environment == Environment.SANDBOX else orders.move
    return move(order=order, to=target, details=details, by=by, at=at)


class CancelOrder(SellerView):
    def post(self, request: HttpRequest, order: int) -> HttpResponse:
        found = get_object_or_404(self.orders, pk=order)
        self.seller.check_active()
        try:
            orders.move(order=found, to=Status.CANCELLED, by=actor(request), at=clock.now())
        except MoveRefused:
            messages.error(request, _("The order has ended and cannot be cancelled any more."))
        else:
            messages.success(request, _("The order is cancelled."))
        return redirect(self.url("seller_order", found.pk))


class OrderInvoice(SellerView):
    """The upload of an invoice on the page of an order, which need not name the order."""

    @heavy
    def post(self, request: HttpRequest, order: int) -> HttpResponse:
        found = get_object_or_404(self.orders, pk=order)
        stored = keep_uploaded(request, self, order=found)
        for invoice in stored:
            if invoice.links.exclude(order=found).exists() and not invoice.links.filter(order=found).exists():
                text = _("Invoice %(invoice)s is linked to the order that it names, not to this one.")
                messages.warning(request, text % {"invoice": invoice})
        return redirect(self.url("seller_order", found.pk))

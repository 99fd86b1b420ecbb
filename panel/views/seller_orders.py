"""A seller's orders: the list, the page of one, and both as CSV."""

from collections.abc import Iterator
from typing import Any

from django.db.models import Prefetch, prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _

from common import csv_files
from common.replica import may_be_old
from integration.models import InvoiceLink, Order
from panel.filters import NEWEST, OrderFilter, all_rows, listed
from panel.views.base import SellerView


class Orders(SellerView):
    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(OrderFilter, request.GET, self.seller.orders.all(), seller=self.seller)
        prefetch_related_objects(shown["rows"], "company")
        return self.page("panel/seller_orders.html", newest=NEWEST, **shown)


class OrdersExport(SellerView):
    """The list with the same filters."""

    @may_be_old
    def get(self, request: HttpRequest) -> Any:
        header = [
            "orderId", _("tracking code"), _("status"), _("service"), _("cost"), _("company"), _("receiver"),
            _("receiver's document"), _("city"), _("state"), _("invoice key"), _("created at"),
        ]  # fmt: skip  # a list of names
        return csv_files.response("orders", header=header, rows=self._rows())

    def _rows(self) -> Iterator[list[csv_files.Cell]]:
        own = self.seller.orders.all()
        for orders, _searched_until in all_rows(OrderFilter, self.request.GET, own, seller=self.seller):
            prefetch_related_objects(orders, "company")
            yield from map(_row, orders)


def _row(order: Order) -> list[csv_files.Cell]:
    address = order.receiver.get("address") or {}
    return [
        order.code, order.tracking_code, order.get_status_display(), order.service, order.cost, order.company.document,
        order.receiver_name, order.receiver_document, address.get("city"), address.get("state"), order.invoice_key,
        order.created_at,
    ]  # fmt: skip  # in the order of the header


class OrderPage(SellerView):
    """One order: its history as tracking shows it, parcels, receiver and invoices."""

    def get(self, request: HttpRequest, order: int) -> HttpResponse:
        links = InvoiceLink.objects.select_related("invoice").defer("invoice__raw")
        orders = self.seller.orders.select_related("company")
        orders = orders.prefetch_related("status_log", Prefetch("invoice_links", links))
        found = get_object_or_404(orders, pk=order)
        return self.page("panel/seller_order.html", order=found, parcels=found.parcels)

"""Importing orders as a table: the upload, its preview with freight, and what was created of it, with its labels."""

from collections.abc import Iterable
from operator import itemgetter
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy

from common.actors import actor
from common.files import table_files
from integration.lifecycle import Status
from integration.models import Order
from integration.models.manifest import MOST_ORDERS
from integration.papers.label import MOST_LABELS
from panel.base import SellerView
from panel.sellers import order_uploads
from panel.sellers.order_uploads import COLUMNS, Import
from panel.upload_pages import AdvanceUpload, ConfirmUpload, UploadForm, UploadPage
from panel.uploaded_rows import Upload

_EXAMPLE: dict[str, Any] = {
    "order-code": "A-1001", "to-name": "Ana Souza", "to-document": "529.982.247-25",
    "to-cellphone": "+55 11 97777-0001", "to-email": "ana@example.com", "to-zipcode": "01304-000",
    "to-street": "Rua Augusta", "to-number": "500", "to-complement": "Apto 42", "to-district": "Consolação",
    "to-city": "São Paulo", "to-state": "SP", "item1-description": "Cafeteira", "item1-quantity": 1,
    "item1-price": 150.5, "item1-weight": 1.5, "item1-length": 30, "item1-width": 20, "item1-height": 10,
    "order-volumes": 1, "order-service": "base",
}  # fmt: skip  # a table


class _OfSeller(SellerView):
    url_name = "seller_import"

    def check_active(self) -> None:
        self.seller.check_active()


class ImportOrders(UploadForm, _OfSeller):
    template = "panel/seller_import.html"
    columns = COLUMNS.values()

    def read(self, raw: bytes, name: str) -> Import:
        return order_uploads.read(raw, name, seller=self.seller, environment=self.environment)


class Template(SellerView):
    """The headings, and a row as an example."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        company = self.seller.companies.order_by("pk").first()
        example = {**_EXAMPLE, "order-company": company.document if company else ""}
        columns = [(heading, itemgetter(key)) for key, heading in COLUMNS.items()]
        rows = [dict.fromkeys(COLUMNS, "") | example]
        return table_files.response(request, self.file_name("orders-template"), columns=columns, rows=rows)


class Imported(UploadPage, _OfSeller):
    template, part = "panel/seller_imported.html", "panel/seller_import_state.html"
    over = gettext_lazy("This import is over. Upload the file again: what was created stays so.")

    def find(self, draft: UUID) -> Import | None:
        return order_uploads.find(draft, seller=self.seller, environment=self.environment)

    def advance(self, draft: UUID) -> Import | None:
        return order_uploads.advance(draft, seller=self.seller, environment=self.environment, by=actor(self.request))

    def facts(self, upload: Upload) -> dict[str, Any]:
        if not upload.is_done:
            return {}
        made = self.orders.in_bulk([row.key for row in upload.done])
        printed = [order for row in upload.done if (order := made.get(row.key)) and order.status != Status.CANCELLED]
        return {"files": list(_files(printed))}


def _files(made: Iterable[Order]) -> Iterable[list[Order]]:
    """The orders of each file of labels, in the order of the rows."""
    file: list[Order] = []
    labels = 0
    for order in made:
        if file and (len(file) == MOST_ORDERS or labels + order.volumes > MOST_LABELS):
            yield file
            file, labels = [], 0
        file.append(order)
        labels += order.volumes
    if file:
        yield file


class Advance(AdvanceUpload, Imported):
    pass


class Confirm(ConfirmUpload, Imported):
    pass

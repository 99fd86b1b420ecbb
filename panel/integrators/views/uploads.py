"""Uploading deliveries as a table: the upload, its preview with prices, and what it has requested."""

from operator import itemgetter
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext_lazy

from common.files import table_files
from panel.base import RequestingView
from panel.integrators import uploads
from panel.integrators.delivery_forms import like_pickup
from panel.integrators.uploads import COLUMNS
from panel.upload_pages import AdvanceUpload, ConfirmUpload, UploadForm, UploadPage

_EXAMPLE = {
    "b-external_id": "P-1001", "b-name": "Ana Souza", "b-phone": "+55 11 97777-0001", "b-street": "Rua Augusta",
    "b-number": "500", "b-complement": "Apto 42", "b-district": "Consolação", "b-city": "São Paulo", "b-state": "SP",
    "b-zipcode": "01304-000", "b-latitude": -23.552, "b-longitude": -46.65, "package1-quantity": 1,
    "package1-weight": 1.5,
}  # fmt: skip  # a table


class _OfAccount(RequestingView):
    url_name = "upload"

    def check_active(self) -> None:
        self.account.check_active()


class Upload(UploadForm, _OfAccount):
    template = "panel/upload.html"
    columns = COLUMNS.values()

    def read(self, raw: bytes, name: str) -> uploads.Draft:
        return uploads.read(raw, name, scope=self.scope, sender=self._sender())

    def _sender(self) -> dict[str, Any]:
        """The values of A of the newest delivery, from one of the pickup points."""
        points = list(self.account.pickup_points.active())
        newest = self.deliveries.filter(forgotten_at=None).order_by("-created_at", "-id").first()
        sender = like_pickup(newest, points)
        if sender.get("point"):
            return sender
        return {"name": sender.get("name"), "phone": sender.get("phone"), "point": _only(points)}


def _only(points: list[Any]) -> str:
    """The key of the only pickup point; empty if there are several."""
    return str(points[0].pk) if len(points) == 1 else ""


class Template(RequestingView):
    """The headings, and a row as an example."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        point = self.account.pickup_points.active().first()
        example: dict[str, Any] = {"a-point": point.name if point else "", "a-name": self.account.name, **_EXAMPLE}
        columns = [(heading, itemgetter(key)) for key, heading in COLUMNS.items()]
        rows = [dict.fromkeys(COLUMNS, "") | example]
        return table_files.response(request, "deliveries-template", columns=columns, rows=rows)


class Draft(UploadPage, _OfAccount):
    template, part = "panel/upload_draft.html", "panel/upload_state.html"
    over = gettext_lazy("This upload is over. Upload the file again: what was requested stays so.")

    def find(self, draft: UUID) -> uploads.Draft | None:
        return uploads.find(draft, scope=self.scope)

    def advance(self, draft: UUID) -> uploads.Draft | None:
        points = list(self.account.pickup_points.active())
        return uploads.advance(draft, scope=self.scope, by=self.actor, points=points)


class Advance(AdvanceUpload, Draft):
    pass


class Confirm(ConfirmUpload, Draft):
    pass

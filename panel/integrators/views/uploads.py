"""Uploading deliveries as a table: the upload, its preview with prices, and what it has requested."""

from operator import itemgetter
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from common.api.heavy import heavy
from common.files import csv_files, table_files
from common.files.csv_files import UnreadableFile
from common.http_requests import is_cut_short
from panel.base import RequestingView
from panel.integrators import uploads
from panel.integrators.delivery_forms import like_pickup
from panel.integrators.uploads import COLUMNS, MOST_BYTES

_EXAMPLE = {
    "b-external_id": "P-1001", "b-name": "Ana Souza", "b-phone": "+55 11 97777-0001", "b-street": "Rua Augusta",
    "b-number": "500", "b-complement": "Apto 42", "b-district": "Consolação", "b-city": "São Paulo", "b-state": "SP",
    "b-zipcode": "01304-000", "b-latitude": -23.552, "b-longitude": -46.65, "package1-quantity": 1,
    "package1-weight": 1.5,
}  # fmt: skip  # a table


class Upload(RequestingView):
    """The form with the file."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    @heavy
    def post(self, request: HttpRequest) -> HttpResponse:
        self.account.check_active()
        sent = request.FILES.get("file")
        if sent is None:
            too_large = is_cut_short(request, field="file", most=table_files.MOST_BYTES)
            return self._show(csv_files.too_large(MOST_BYTES) if too_large else _("Choose a file."), status=422)
        try:
            csv_files.check_size(sent.size or 0, most=table_files.MOST_BYTES)
            draft = uploads.read(sent.read(), sent.name or "", scope=self.scope, sender=self._sender())
        except UnreadableFile as error:
            return self._show(str(error), status=422)
        return redirect(self.url("upload_draft", draft.id))

    def _sender(self) -> dict[str, Any]:
        """The values of A of the newest delivery, from one of the pickup points."""
        points = list(self.account.pickup_points.active())
        newest = self.deliveries.filter(forgotten_at=None).order_by("-created_at", "-id").first()
        sender = like_pickup(newest, points)
        if sender.get("point"):
            return sender
        return {"name": sender.get("name"), "phone": sender.get("phone"), "point": _only(points)}

    def _show(self, error: str = "", *, status: int = 200) -> HttpResponse:
        return self.page(
            "panel/upload.html",
            error=error,
            columns=list(COLUMNS.values()),
            most_rows=csv_files.MOST_IMPORTED,
            accepted=table_files.ACCEPTED,
            status=status,
        )


class Template(RequestingView):
    """The headings, and a row as an example."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        point = self.account.pickup_points.active().first()
        example: dict[str, Any] = {"a-point": point.name if point else "", "a-name": self.account.name, **_EXAMPLE}
        columns = [(heading, itemgetter(key)) for key, heading in COLUMNS.items()]
        rows = [dict.fromkeys(COLUMNS, "") | example]
        return table_files.response(request, "deliveries-template", columns=columns, rows=rows)


class Draft(RequestingView):
    """The preview, the progress and the result of an upload."""

    def get(self, request: HttpRequest, draft: UUID) -> HttpResponse:
        found = uploads.find(draft, scope=self.scope)
        if found is None:
            messages.info(request, _("This upload is over. Upload the file again: what was requested stays so."))
            return redirect(self.url("upload"))
        return self.show(found)

    def show(self, draft: uploads.Draft, *, is_waiting_for_another: bool = False) -> HttpResponse:
        is_part = bool(self.request.headers.get("HX-Request"))
        template = "panel/upload_state.html" if is_part else "panel/upload_draft.html"
        return self.page(template, draft=draft, is_waiting_for_another=is_waiting_for_another)

    def found(self, draft: UUID) -> uploads.Draft:
        found = uploads.find(draft, scope=self.scope)
        if found is None:
            raise Http404
        return found


class Advance(Draft):
    """The next portion of an upload."""

    http_method_names = ["post"]

    @heavy
    def post(self, request: HttpRequest, draft: UUID) -> HttpResponse:
        self.account.check_active()
        points = list(self.account.pickup_points.active())
        worked = uploads.advance(draft, scope=self.scope, by=self.actor, points=points)
        found = worked or self.found(draft)
        if not request.headers.get("HX-Request"):
            return redirect(self.url("upload_draft", draft))
        return self.show(found, is_waiting_for_another=worked is None)


def _only(points: list[Any]) -> str:
    """The key of the only pickup point; empty if there are several."""
    return str(points[0].pk) if len(points) == 1 else ""


class Confirm(Draft):
    """Request the deliveries of the rows that have a price."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, draft: UUID) -> HttpResponse:
        self.account.check_active()
        found = self.found(draft)
        if found.is_checked and not found.is_confirmed:
            found.is_confirmed = True
            found.save()
        return redirect(self.url("upload_draft", draft))

"""Files of events, which depots and carriers without an API keep: a table is read, previewed and recorded.

Nothing is written before the preview is confirmed, and then only if it is still true.
"""

import hashlib
from dataclasses import dataclass
from datetime import datetime, time
from operator import itemgetter
from typing import Any, ClassVar, NamedTuple
from uuid import UUID

from django import forms
from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from import_export.widgets import Widget
from unfold.widgets import UnfoldAdminFileFieldWidget

from common import clock
from common.accounts import Environment
from common.actors import actor
from common.admin.base import ModelAdmin
from common.admin.tabular_import import ChoiceWidget, FormFieldWidget
from common.api.heavy import heavy
from common.brazil import zones
from common.files import csv_files, kept_uploads, table_files
from common.files.csv_files import UnreadableFile, comparable, in_every_language
from common.http_requests import is_cut_short
from common.measures import shown, with_value
from integration import lifecycle, words
from integration.carriers import movements
from integration.carriers.movements import Movement, Outcome
from integration.errors import AmbiguousTrackingCode, InvalidStatusReport, MoveRefused
from integration.lifecycle import Reason, Status
from integration.models import Order
from integration.models.order import LONGEST_CODE, LONGEST_PLACE, LONGEST_REASON

_LONGEST_REFERENCE = 20


class _MomentWidget(Widget):
    """A moment in the service's time zone. A day without a time is its last moment that has been.

    So it is never before the order of the same day, as midnight would be.
    """

    def clean(self, value: str, row: Any = None, **kwargs: Any) -> datetime | None:
        """Raises ValueError."""
        if not value:
            return None
        if day := table_files.date_alone(value):
            begins, ends = (timezone.make_aware(datetime.combine(day, part)) for part in (time(), time(23, 59, 59)))
            return min(ends, max(clock.now(), begins))
        try:
            return _MOMENT.clean(value)
        except forms.ValidationError as error:
            accepted = _("write it as 28/11/2026 14:30 or 2026-11-28 14:30, %(zone)s") % {"zone": zones.called()}
            raise ValueError(with_value(value, accepted)) from error


_MOMENT = forms.DateTimeField(
    input_formats=["%d/%m/%Y %H:%M", "%d/%m/%Y %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S"]
)


class Column(NamedTuple):
    """`name`: of a field of `Movement`; `of_api`: its key in the API's events, which is accepted as a heading too."""

    name: str
    heading: Any
    of_api: str
    cell: Widget
    is_required: bool = False


COLUMNS = (
    Column("tracking_code", gettext_lazy("tracking code"), "trackingCode",
           FormFieldWidget(forms.CharField(max_length=LONGEST_CODE)), is_required=True),
    Column("status", gettext_lazy("status"), "status",
           ChoiceWidget([(status.value, words.STATUSES[status]) for status in lifecycle.BY_CARRIER]), is_required=True),
    Column("happened_at", gettext_lazy("happened at"), "occurredAt", _MomentWidget()),
    Column("reason_code", gettext_lazy("reason code"), "code",
           ChoiceWidget([(code.value, text) for code, text in words.REASONS.items()])),
    Column("reason", gettext_lazy("reason in words"), "reason",
           FormFieldWidget(forms.CharField(max_length=LONGEST_REASON))),
    Column("place", gettext_lazy("place"), "place", FormFieldWidget(forms.CharField(max_length=LONGEST_PLACE))),
    Column("seller", gettext_lazy("seller"), "seller", FormFieldWidget(forms.CharField(max_length=_LONGEST_REFERENCE))),
)  # fmt: skip  # a table
_BY_NAME = {column.name: column for column in COLUMNS}
_BY_KEY = {column.of_api: column for column in COLUMNS}


@dataclass(frozen=True)
class Fault:
    """What is wrong in a line of the file, and in which column; empty if it is the line as a whole."""

    line: int
    column: str
    text: str


@dataclass(frozen=True)
class Line:
    """An event with what would become of it."""

    number: int
    movement: Movement
    outcome: Outcome

    @property
    def is_moving(self) -> bool:
        """Whether it changes the status of its order."""
        return not self.outcome.was_already and not self.outcome.was_done_before

    @property
    def reason(self) -> str:
        """Code and text, in the reader's language."""
        code = self.movement.reason_code
        return " · ".join(filter(None, (str(words.REASONS[Reason(code)]) if code else "", self.movement.reason)))


@dataclass(frozen=True)
class Preview:
    lines: list[Line]
    faults: list[Fault]

    @property
    def moving(self) -> list[Line]:
        return [line for line in self.lines if line.is_moving]

    @property
    def unchanged(self) -> list[Line]:
        return [line for line in self.lines if not line.is_moving]

    @property
    def digest(self) -> str:
        """Equal for previews that say the same, in whatever language."""
        rows = [(line.number, line.outcome.code, line.outcome.order and line.outcome.order.pk) for line in self.lines]
        return hashlib.sha256(repr(rows).encode()).hexdigest()


def preview(raw: bytes, *, source: str, at: datetime) -> Preview:
    """What a file would do now. Raises UnreadableFile."""
    events, faults = read(raw)
    outcomes = movements.foresee([each for _number, each in events], orders=_orders(), source=source, at=at)
    lines = [Line(number, event, outcome) for (number, event), outcome in zip(events, outcomes, strict=True)]
    faults += [_fault(line) for line in lines if line.outcome.refusal]
    return Preview([line for line in lines if line.outcome.succeeded], sorted(faults, key=lambda fault: fault.line))


def _orders() -> Any:
    return Order.objects.filter(environment=Environment.LIVE)


def _fault(line: Line) -> Fault:
    refusal = line.outcome.refusal
    if isinstance(refusal, InvalidStatusReport):
        column = _BY_KEY[refusal.fields[0]]
    elif isinstance(refusal, MoveRefused):
        column = _BY_NAME["status"]
    else:
        column = _BY_NAME["seller" if isinstance(refusal, AmbiguousTrackingCode) else "tracking_code"]
    return Fault(line.number, str(column.heading), line.outcome.text)


def read(raw: bytes) -> tuple[list[tuple[int, Movement]], list[Fault]]:
    """The events with the numbers of their lines, and what is wrong in the others. Raises UnreadableFile.

    The id of an event is made of the file and the line, so that the same file again does nothing.
    """
    headings, *rows = table_files.read(raw)
    columns = _in_file(headings.cells)
    name_of_file = hashlib.sha256(raw).hexdigest()[:32]
    events, faults = [], []
    for row in rows:
        values, wrong = _values(columns, row)
        if wrong:
            faults += wrong
        else:
            events.append((row.number, Movement(event_id=f"{name_of_file}-{row.number}", **values)))
    return events, faults


def _in_file(headings: list[str]) -> list[Column]:
    known: dict[str, Column] = {}
    for column in COLUMNS:
        known |= dict.fromkeys(in_every_language(column.heading) | {comparable(column.of_api)}, column)
    found = []
    for heading in headings:
        named = known.get(comparable(heading))
        if named is None:
            names = ", ".join(str(each.heading) for each in COLUMNS)
            detail = {"heading": shown(heading), "known": names}
            raise UnreadableFile(_("Unknown column '%(heading)s'. Known: %(known)s.") % detail)
        if named in found:
            raise UnreadableFile(_("The column '%(heading)s' occurs twice.") % {"heading": shown(heading)})
        found.append(named)
    missing = [str(column.heading) for column in COLUMNS if column.is_required and column not in found]
    if missing:
        raise UnreadableFile(_("Columns are missing: %(names)s.") % {"names": ", ".join(missing)})
    return found


def _values(columns: list[Column], row: csv_files.Row) -> tuple[dict[str, Any], list[Fault]]:
    """The fields of a `Movement`, and the faults of the row's cells."""
    if any(row.cells[len(columns) :]):
        return {}, [Fault(row.number, "", _("more cells than headings"))]
    values, faults = {}, []
    for column, cell in zip(columns, [*row.cells, *[""] * len(columns)], strict=False):
        try:
            value = column.cell.clean(cell)
        except ValueError as error:
            faults.append(Fault(row.number, str(column.heading), str(error)))
            continue
        if value is None and column.is_required:
            faults.append(Fault(row.number, str(column.heading), str(forms.Field.default_error_messages["required"])))
        elif value is not None:
            values[column.name] = Status(value) if column.name == "status" else value
    return values, faults


class UploadForm(forms.Form):
    """The file, or the name of the one that was previewed, with what the preview showed."""

    file = forms.FileField(
        label=gettext_lazy("XLSX or CSV file"),
        required=False,
        widget=UnfoldAdminFileFieldWidget({"accept": table_files.ACCEPTED}),
    )
    upload = forms.UUIDField(required=False)
    digest = forms.CharField(required=False, max_length=64)


class MovementFiles(ModelAdmin):
    """Mixin of the orders' screen: the page for files of events."""

    movements_template: ClassVar[str] = "admin/integration/order/movements.html"

    def get_urls(self) -> list[URLPattern]:
        pages = {"movements": self.movements_view, "movements/template": self.movements_example}
        urls = [
            path(f"{route}/", self.admin_site.admin_view(view), name=f"integration_order_{route.replace('/', '_')}")
            for route, view in pages.items()
        ]
        return [*urls, *super().get_urls()]

    def movements_example(self, request: HttpRequest) -> HttpResponseBase:
        """The headings, and a row as an example."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        example = dict.fromkeys(_BY_NAME, "") | {
            "tracking_code": "AA123456785BR",
            "status": words.STATUSES[Status.COLLECTED],
            "happened_at": clock.now(),
            "place": "São Paulo/SP",
        }
        columns: list[table_files.Column] = [(column.heading, itemgetter(column.name)) for column in COLUMNS]
        return table_files.response(request, "events-template", columns=columns, rows=[example])

    @heavy
    def movements_view(self, request: HttpRequest) -> HttpResponse:
        """The upload; its preview; the recording."""
        if not self.has_change_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._show(request)
        form = UploadForm(request.POST, request.FILES)
        if not form.is_valid():
            return self._show(request, error=_("The preview is incomplete or too old. Upload the file again."))
        if form.cleaned_data["upload"]:
            return self._confirmed(request, form.cleaned_data["upload"], form.cleaned_data["digest"])
        file = form.cleaned_data["file"]
        if file is None:
            is_large = is_cut_short(request, field="file", most=table_files.MOST_BYTES)
            too_large = csv_files.too_large(table_files.MOST_BYTES)
            return self._show(request, error=too_large if is_large else _("Choose a file."))
        try:
            csv_files.check_size(file.size, most=table_files.MOST_BYTES)
            return self._preview(request, file.read())
        except UnreadableFile as error:
            return self._show(request, error=str(error))

    def _preview(self, request: HttpRequest, raw: bytes) -> HttpResponse:
        found = preview(raw, source=_source(request), at=clock.now())
        is_ready = found.moving and not found.faults
        upload = kept_uploads.keep_file(raw, **_kept_for(request)) if is_ready else None
        return self._show(request, preview=found, upload=upload)

    def _confirmed(self, request: HttpRequest, upload: UUID, digest: str) -> HttpResponse:
        """Record the events of a file if that does what its preview showed. Otherwise show the preview of now."""
        raw = kept_uploads.find_file(upload, **_kept_for(request)) or b""
        source, at = _source(request), clock.now()
        try:
            found = preview(raw, source=source, at=at)
        except UnreadableFile:
            return self._show(request, error=_("The preview is incomplete or too old. Upload the file again."))
        if found.faults or found.digest != digest:
            messages.warning(request, _("Orders have changed since the preview. This is the new one."))
            return self._preview(request, raw)
        events = [line.movement for line in found.lines]
        outcomes = movements.record(events, orders=_orders(), source=source, by=actor(request), at=at)
        kept_uploads.remove(upload)
        moved = [each.order for each in outcomes if each.code == movements.MOVED and not each.was_done_before]
        user: Any = request.user  # logged in, so that it has a key
        LogEntry.objects.log_actions(user.pk, [order for order in moved if order], CHANGE, _("By a file of events."))
        messages.success(request, _("Events recorded: %(count)s.") % {"count": len(moved)})
        for line, outcome in zip(found.lines, outcomes, strict=True):
            if not outcome.succeeded:  # the order was moved in this moment
                text = _("Line %(line)s: %(refusal)s") % {"line": line.number, "refusal": outcome.text}
                messages.error(request, text)
        return HttpResponseRedirect(reverse("admin:integration_order_changelist"))

    def _show(self, request: HttpRequest, **values: Any) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("Events from a file"),
            "opts": self.opts,
            "form": UploadForm(),
            "columns": [column.heading for column in COLUMNS],
            **values,
        }
        return TemplateResponse(request, self.movements_template, context, status=422 if "error" in values else 200)


def _source(request: HttpRequest) -> str:
    return f"user {request.user.pk}"


def _kept_for(request: HttpRequest) -> dict[str, Any]:
    return {"owner": _source(request), "kind": "movements", "at": clock.now()}

"""Lists as CSV files: the rows that the list's filters select."""

import logging
from collections.abc import Iterator
from typing import Any

from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponseBase
from django.utils.translation import gettext as _

from common import csv_files
from common.actors import actor
from common.csv_files import Cell
from common.formats import moment, postcode
from common.replica import may_be_old
from delivery.models import STATE_NAMES, Delivery, Stop, WebhookAttempt, WebhookEvent
from delivery.models.stop import LABELS
from panel.filters import DeliveryFilter, EventFilter, all_rows
from panel.templatetags.panel import status_name
from panel.views.base import AccountView
from panel.views.events import EventsView

_log = logging.getLogger(__name__)


class Deliveries(AccountView):
    """One row for each delivery, with columns for each of its three possible drop-offs."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        _log.info("%s exported deliveries of account %s", actor(request), self.account.pk)
        header = [
            "deliveryId", _("Status"), _("Requested"), _("Closed"), _("Vehicle"), _("Driver"), _("Price"), "km",
            _("Cancelled"), _("Cancellation reason"), _("Cancellation fee"), *_header_of_place("A"),
        ]  # fmt: skip  # a list of columns
        for label in LABELS:
            header += [f"{label}: externalId", f"{label}: {_('Status')}", *_header_of_place(label)]
        return csv_files.response("deliveries", header=header, rows=self._rows())

    def _rows(self) -> Iterator[list[Cell]]:
        for rows, searched_until in all_rows(DeliveryFilter, self.request.GET, self.deliveries):
            prefetch_related_objects(rows, "driver", "stops")
            yield from map(_row_of_delivery, rows)
            if searched_until:
                yield [_("Deliveries before %(at)s were not searched.") % {"at": moment(searched_until.created_at)}]


class Events(EventsView):
    """One row for each event, with its last attempt."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponseBase:
        _log.info("%s exported events of account %s", actor(request), self.account.pk)
        header = [
            "webhook-id", _("Event"), "webhook-sequence", "deliveryId", _("State"), _("Made"), _("Received"),
            _("Attempts"), _("Last attempt"), _("Last answer"), "ms", _("Error"),
        ]  # fmt: skip  # a list of columns
        return csv_files.response("events", header=header, rows=self._rows())

    def _rows(self) -> Iterator[list[Cell]]:
        for rows, _searched_until in all_rows(EventFilter, self.request.GET, self.events):
            prefetch_related_objects(rows, "queue_item")
            attempts = {attempt.event_id: attempt for attempt in WebhookAttempt.objects.last_of(rows)}
            for event in rows:
                yield _row_of_event(event, attempts.get(event.pk))


def _header_of_place(label: str) -> list[str]:
    return [f"{label}: {name}" for name in (_("Name"), _("Phone"), _("Address"), "CEP")]


def _row_of_delivery(delivery: Delivery) -> list[Cell]:
    row: list[Cell] = [
        delivery.pk, status_name(delivery.status), delivery.created_at, delivery.closed_at,
        delivery.get_vehicle_type_display(), delivery.driver.name if delivery.driver else "", delivery.shipping_value,
        delivery.distance_km, delivery.cancelled_at, delivery.cancel_reason, delivery.cancel_fee, *_place(delivery),
    ]  # fmt: skip  # in the order of the columns
    for stop in delivery.ordered_stops:
        row += [stop.external_id, status_name(stop.status), *_place(stop)]
    return row


def _place(place: Delivery | Stop) -> list[Cell]:
    """Name, phone, address and CEP."""
    texts: dict[str, Any] = place.address
    parts = [texts.get(name, "") for name in ("street", "number", "complement", "district", "city", "state")]
    address = ", ".join(part for part in parts if part) or f"{place.latitude}, {place.longitude}"
    return [place.contact_name, place.contact_phone, address, postcode(texts.get("zipcode", ""))]


def _row_of_event(event: WebhookEvent, last: WebhookAttempt | None) -> list[Cell]:
    row: list[Cell] = [
        event.pk, event.name, event.sequence, event.delivery_id, STATE_NAMES[event.shown_state], event.created_at,
        event.sent_at, event.attempts_made,
    ]  # fmt: skip  # in the order of the columns
    return [*row, last.at, last.status_code, last.milliseconds, last.error] if last else row

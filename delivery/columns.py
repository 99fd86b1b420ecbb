"""What pages, the admin and files show of deliveries and their stops. See `common.columns`."""

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from common.brazil.formats import kilometres, moment, money, postcode
from common.columns import ADMIN, FILE, PAGE, Code, Column, State
from delivery import words
from delivery.models import Delivery, Stop
from delivery.models.stop import LABELS
from delivery.pricing import Charge
from delivery.words import text_of_simulator

_Place = Delivery | Stop


def state(delivery: Delivery) -> State:
    """The status of the whole, whose colour is not that of success where a driver has failed at a stop."""
    has_failed = delivery.is_partly_failed and not delivery.stops_ahead
    code = delivery.shown_status
    return State(delivery.status_name, code, "bad" if has_failed else words.COLOURS[code])


def _state_of_stop(stop: Stop) -> str:
    delivery = stop.delivery
    return delivery.status_name if delivery.is_scheduled else stop.pickup_status or str(words.STATUSES[stop.status])


def _address(place: _Place) -> str:
    texts: dict[str, Any] = place.address
    parts = [texts.get(name, "") for name in ("street", "number", "complement", "district", "city", "state")]
    return ", ".join(part for part in parts if part) or f"{place.latitude}, {place.longitude}"


def _charged(value: Decimal) -> str | None:
    """An amount in reais; nothing of 0, which failures cost most accounts."""
    return money(value) if value else None


# Of A and of the stops. Pages and the admin show places as cards.
PLACE = (
    Column(_("Name"), "contact_name", on=FILE),
    Column(_("Phone"), "contact_phone", on=FILE),
    Column(_("Address"), _address, on=FILE),
    Column("CEP", lambda place: postcode(place.address.get("zipcode", "")), on=FILE),
)
STOP = (
    Column("externalId", "external_id", on=FILE),
    Column(_("Status"), _state_of_stop, on=FILE),
    *PLACE,
)


def _of(column: Column, label: str, place: Callable[[Delivery], _Place | None]) -> Column:
    """A column of a place as one of its delivery; empty where the delivery does not have the place."""

    def value(delivery: Delivery) -> Any:
        found = place(delivery)
        return None if found is None else column.value(found)

    return replace(column, label=format_lazy("{}: {}", label, column.label), get=value)


def _stop(index: int) -> Callable[[Delivery], Stop | None]:
    return lambda delivery: delivery.ordered_stops[index] if index < len(delivery.ordered_stops) else None


# A field of a delivery that is one line here is shown everywhere. The delivery's page shows what stands on FILE and
# ADMIN alone outside its summary.
DELIVERY = (
    Column("deliveryId", "pk", Code, on=FILE | ADMIN),
    Column(_("Status"), state, on=FILE | ADMIN),
    Column(_("Requested"), "created_at", moment),
    Column(_("Closed"), "closed_at", moment),
    Column(_("Vehicle"), "get_vehicle_type_display"),
    Column(_("Driver"), "driver.name", text_of_simulator, on=FILE | ADMIN),
    Column(_("Price"), "shipping_value", money),
    Column(_("distance"), "distance_km", kilometres, heading="km"),
    Column(_("Cancelled"), "cancelled_at", moment),
    Column(_("Cancellation reason"), "cancel_reason"),
    Column(_("Cancellation fee"), "cancel_fee", money),
    *(_of(column, "A", lambda delivery: delivery) for column in PLACE),
    *(_of(column, label, _stop(index)) for index, label in enumerate(LABELS) for column in STOP),
    Column(words.CHARGES[Charge.RETRY], "retry_fee", _charged),
    Column(words.CHARGES[Charge.RETURN], "return_fee", _charged),
    Column(_("mode"), "get_mode_display", on=PAGE | ADMIN),
    Column(_("scheduled for"), "scheduled_for", moment, on=ADMIN),
    Column(_("deadline of the pickup"), "pickup_deadline_at", moment, on=ADMIN),
    Column(_("deadline"), "deadline_at", moment, on=ADMIN),
    Column(_("offered at"), "offer_at", moment, on=ADMIN),
    Column(_("offer expires at"), "offer_expires_at", moment, on=ADMIN),
    Column(_("ready at"), "ready_at", moment, on=ADMIN),
    Column(_("first accepted at"), "accepted_at", moment, on=ADMIN),
    Column(_("earned by the driver"), "driver_amount", money, on=ADMIN),
    Column(_("webhook events"), "last_sequence", on=ADMIN),
    Column(_("anonymised at"), "forgotten_at", moment, on=ADMIN),
    Column(_("account"), "integrator", on=ADMIN),
    Column(_("route"), "route_id", Code, on=ADMIN),
    Column(_("environment"), "get_environment_display", on=ADMIN),
    Column(_("requested with"), "token", on=ADMIN),
)

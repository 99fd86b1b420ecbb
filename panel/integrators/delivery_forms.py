"""The form that requests a delivery, also from a row of an uploaded file. Values are those of the API's body."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from django import forms
from django.conf import settings
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import QuerySet
from django.forms import BoundField
from django.utils import timezone
from django.utils.formats import number_format
from django.utils.functional import cached_property
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.brazil import formats, phones, zones
from common.brazil.states import STATES, Region, may_lie_in, region_of
from common.fields import composed
from common.mail import outbox
from common.measures import NumberField
from delivery import windows, words
from delivery.actions import deliveries, quotes
from delivery.bodies import ADDRESS_TEXTS
from delivery.errors import (
    AddressNotLocated,
    DeliveryError,
    ExternalIdInUse,
    FormSentAlready,
    GeocoderUnavailable,
    PickupNotLinked,
)
from delivery.geo import service_area
from delivery.geo.distance import Point, metres
from delivery.lifecycle import Mode, OnFailure
from delivery.models import AccountScope, Delivery, Environment, PickupPoint, Stop, VehicleType
from delivery.models.stop import LABELS
from delivery.payload import DeliveryRequest, Options, Package, Place
from delivery.places import address_table, addresses
from delivery.places.geocoding import Precision
from delivery.pricing import Quote
from delivery.refusals import refusal
from delivery.windows import Window
from panel.address_forms import AddressForm, MomentField, check_digits, text_field
from panel.forms import PositionField

MOST_PACKAGES = 5
_LARGEST_MEASURE = 1_000_000_000  # as in the API
_MEASURES = ("height", "width", "length", "weight")
# The geocoder looks for an address that has one of these. A city alone, which the form fills in, is no place.
_TO_LOCATE = ("street", "district", "zipcode")
# Fields that the page folds until one of them is refused.
_REST_OF_ADDRESS = {"complement", "district", "city", "state"}
_WISHES = {"instructions", "email", "on_failure", "photo", "pin"}
# Of an account, in which the contacts and addresses of its pickup points are looked for.
_NEWEST = 200
_MOST_RECEIVERS = 50
# What the price does not depend on, and so may still be missing when it is shown.
_PROOFS = ("photo", "pin")
# A place on the map that is farther from its address is asked about.
_FARTHEST_PIN_M = 500
_WITHOUT_PRICE = {"name", "phone", "zipcode", "email", "external_id", "instructions", "on_failure"}


class PlaceForm(AddressForm):
    """A contact at an address, and where that is on the map."""

    phone = text_field(_("Phone"), validators=[check_digits], inputmode="tel", placeholder="+55 11 98888-0000")
    position = PositionField(
        label=_("Place on the map"),
        max_length=2000,
        required=False,
        help_text=_(
            "Click on the map, or paste coordinates or a link of Google Maps, Apple Maps, Waze or OpenStreetMap."
        ),
        widget=forms.TextInput(
            {
                "data-point": "",
                "data-located": _("From the address"),
                "autocomplete": "off",
                "placeholder": "-23.56141, -46.65588",
            }
        ),
    )
    field_order = ["name", "phone"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # A form of which nothing may be filled in is not checked by the browser.
        super().__init__(*args, **{"use_required_attribute": not kwargs.get("empty_permitted"), **kwargs})
        self.candidates: list[tuple[str, Point]] = []  # what the geocoder has found for an address that is not clear

    def clean_position(self) -> Point | None:
        point: Point | None = self.cleaned_data["position"]
        if point is not None:
            check_served(point)
        return point

    @property
    def can_be_located(self) -> bool:
        """Whether the address can be looked for."""
        return any(self.cleaned_data.get(name) for name in _TO_LOCATE) and addresses.can_locate()

    @property
    def must_be_located(self) -> bool:
        """Whether there are no coordinates, and the address can be looked for."""
        return self.cleaned_data.get("position") is None and self.can_be_located

    def check_placed(self) -> None:
        """Add an error if nothing tells where the place is."""
        if self.cleaned_data.get("position") is None and "position" not in self.errors and not self.must_be_located:
            self.add_error("position", _("Click on the map, or paste coordinates or a link."))

    @property
    def region(self) -> Region | None:
        """Of the CEP."""
        return region_of(self.cleaned_data.get("zipcode") or "")

    @property
    def derived(self) -> list[dict[str, Any]]:
        """What the CEP and a pasted link tell: the id and the text of each, and what they say of `fields`, by ids.

        What is empty is not known.
        """
        found: dict[str, dict[str, str]] = {}
        if known := address_table.street_of(self.cleaned_data.get("zipcode") or ""):
            found["zipcode"] = asdict(known)
        point, text = self.cleaned_data.get("position"), self["position"].value() or ""
        if isinstance(point, Point) and ":" in text:
            found["position"] = {"position": f"{point.latitude:.6f}, {point.longitude:.6f}"}
        return [
            {
                "id": self[name].id_for_label,
                "text": self[name].value(),
                "fields": {self[other].id_for_label: value for other, value in fields.items()},
            }
            for name, fields in found.items()
        ]

    @property
    def doubt(self) -> str:
        """That the place is not in the state of its CEP; empty without a reason to doubt."""
        point, region = self.cleaned_data.get("position"), self.region
        if not isinstance(point, Point) or region is None or may_lie_in(region.state, *point):
            return ""
        values = {"state": STATES[region.state].name, "point": (self.prefix or "").upper()}
        return gettext("The CEP of %(point)s is in %(state)s, the place on the map is not. Check them.") % values

    @property
    def address(self) -> dict[str, str]:
        return {name: self.cleaned_data.get(name) or "" for name in ADDRESS_TEXTS}

    @property
    def has_price(self) -> bool:
        """Whether everything that the price depends on is valid."""
        return not self.errors.keys() - _WITHOUT_PRICE

    @property
    def shows_address(self) -> bool:
        """Whether more of the address than street and number is not folded."""
        return bool(self.errors.keys() & _REST_OF_ADDRESS)


# What an address has and the form asks for.
_TEXTS = [name for name in ADDRESS_TEXTS if name in PlaceForm.base_fields]


def check_served(point: Point) -> None:
    """Raise ValidationError if the point is outside the service area."""
    if service_area.serves(settings.SERVICE_AREA, point.latitude, point.longitude):
        return
    text = gettext("This place is outside the area that this service serves.")
    if service_area.is_swapped(settings.SERVICE_AREA, point.latitude, point.longitude):
        text += " " + gettext("Latitude and longitude seem to be swapped.")
    raise ValidationError(text)


class PickupForm(PlaceForm):
    """A: one of the account's active pickup points, or any place if the account may pick up anywhere."""

    point = forms.ChoiceField(label=_("Pickup point"), required=False)
    field_order = ["point", *PlaceForm.field_order]

    def __init__(self, *args: Any, points: Iterable[PickupPoint], anywhere: bool, **kwargs: Any) -> None:
        self.points = {str(each.pk): each for each in points}
        if self.points:
            first = next(iter(self.points))
            kwargs["initial"] = {"point": first, **(kwargs.get("initial") or {})}
        super().__init__(*args, **kwargs)
        choices = [(key, each.name) for key, each in self.points.items()]
        field = self.fields["point"]
        field.choices = [*choices, ("", _("Another place"))] if anywhere else choices  # type: ignore[attr-defined]  # of ChoiceField
        field.required = not anywhere
        for name in ("name", "phone"):
            self.fields[name].required = True

    def clean(self) -> None:
        cleaned = super().clean() or self.cleaned_data
        if chosen := self.points.get(cleaned.get("point") or ""):
            cleaned["position"] = chosen.point
            self.errors.pop("position", None)
        elif "point" not in self.errors:
            self.check_placed()

    @property
    def can_be_located(self) -> bool:
        """Not that of a pickup point, whose place is known."""
        return not self.cleaned_data.get("point") and super().can_be_located

    @property
    def shows_contact(self) -> bool:
        """Whether contact and address are not folded, because something is missing or refused."""
        is_known = self.is_bound or (self.initial.get("name") and self.initial.get("phone"))
        return bool(self.errors) or not is_known


class DropoffForm(PlaceForm):
    """B, C or D."""

    external_id = text_field(_("Order number"))
    email = forms.EmailField(
        label=_("Email"),
        max_length=outbox.LONGEST_ADDRESS,
        required=False,
        help_text=_("Gets the link to follow the delivery."),
        widget=forms.EmailInput({"autocomplete": "off"}),
    )
    instructions = forms.CharField(
        label=_("Instructions for the driver"), max_length=500, required=False, widget=forms.Textarea({"rows": 2})
    )
    on_failure = forms.ChoiceField(
        label=_("If it cannot be delivered"),
        required=False,
        choices=[("", _("As set for the shop")), *words.POLICIES.items()],
    )
    photo = forms.BooleanField(label=_("The driver takes a photo"), required=False)
    pin = forms.BooleanField(label=_("The receiver tells the driver a PIN"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.use_required_attribute and not addresses.can_locate():
            self.fields["position"].widget.attrs["required"] = True

    @property
    def shows_wishes(self) -> bool:
        """Whether what is asked of the driver is not folded."""
        return bool(self.errors.keys() & _WISHES)

    def clean_email(self) -> str:
        return outbox.clean_address(self.cleaned_data["email"]) if self.cleaned_data["email"] else ""

    def clean(self) -> None:
        super().clean()
        self.check_placed()

    def refuse_in_reverse(self) -> None:
        """Add an error to each field about what a pickup does not have, as the API refuses it."""
        asked = self.cleaned_data
        is_asked = {"on_failure": asked["on_failure"] not in ("", OnFailure.RETURN), **{f: asked[f] for f in _PROOFS}}
        for name in filter(is_asked.get, is_asked):
            self.add_error(name, gettext("Not on a route from the points to A, where the driver collects here."))


class PackageForm(forms.Form):
    description = text_field(_("Contents"))
    quantity = forms.IntegerField(
        label=_("Quantity"), min_value=1, max_value=_LARGEST_MEASURE, required=False, initial=1
    )
    weight = NumberField(label=_("Weight each (kg)"), places=3, largest=_LARGEST_MEASURE, positive=True, required=False)
    length = NumberField(label=_("Length (cm)"), places=1, largest=_LARGEST_MEASURE, positive=True, required=False)
    width = NumberField(label=_("Width (cm)"), places=1, largest=_LARGEST_MEASURE, positive=True, required=False)
    height = NumberField(label=_("Height (cm)"), places=1, largest=_LARGEST_MEASURE, positive=True, required=False)

    def has_changed(self) -> bool:
        """Whether it says something of a package, which a quantity does not that was not sent, or deleted."""
        said = set(self.changed_data)
        return bool(said - {"quantity"} or (said and self["quantity"].data))

    @property
    def shows_measures(self) -> bool:
        """Whether all but the quantity is not folded."""
        return bool(self.errors.keys() - {"quantity"})

    @property
    def package(self) -> Package:
        data = self.cleaned_data
        measures: dict[str, Any] = {name: None if data[name] is None else float(data[name]) for name in _MEASURES}
        texts: dict[str, Any] = {"description": data["description"], "quantity": data["quantity"]}
        return cast("Package", texts | measures)


class WindowsForm(forms.Form):
    """From when and until when, by the letters of the places."""

    a_ready_at, a_deadline_at = MomentField(_("Collect from")), MomentField(_("Collect by"))
    b_ready_at, b_deadline_at = MomentField(_("Deliver from")), MomentField(_("Deliver by"))
    c_ready_at, c_deadline_at = MomentField(_("Deliver from")), MomentField(_("Deliver by"))
    d_ready_at, d_deadline_at = MomentField(_("Deliver from")), MomentField(_("Deliver by"))

    @property
    def pairs(self) -> list[tuple[str, BoundField, BoundField]]:
        """Letter and fields of each place."""
        return [(letter.upper(), self[f"{letter}_ready_at"], self[f"{letter}_deadline_at"]) for letter in "abcd"]

    def of(self, letter: str) -> Window:
        return Window(self.cleaned_data[f"{letter}_ready_at"], self.cleaned_data[f"{letter}_deadline_at"])

    def check(self, letters: Sequence[str], *, is_reverse: bool, at: datetime) -> None:
        """Raise ValidationError where windows are refused, beside their fields, those of B first."""
        for letter in LABELS.lower():
            if letter not in letters and self.of(letter):
                text = gettext("There is no point %(point)s: fill it in, or clear this.") % {"point": letter.upper()}
                self.add_error(f"{letter}_{'ready_at' if self.of(letter).ready_at else 'deadline_at'}", text)
                raise ValidationError(text)
        dropoffs = [self.of(letter) for letter in letters]
        found = list(windows.faults(self.of("a"), dropoffs, is_reverse=is_reverse, at=at))
        for fault in found:
            letter = "a" if fault.dropoff is None else letters[fault.dropoff]
            self.add_error(f"{letter}_{'deadline_at' if fault.is_deadline else 'ready_at'}", gettext(fault.text))
        if found:
            raise ValidationError(gettext(found[0].text))


class TripForm(forms.Form):
    """What concerns the whole delivery."""

    vehicle_type = forms.ChoiceField(label=_("Vehicle"), choices=VehicleType.choices)
    # Not sent: from A to the points.
    mode = forms.ChoiceField(label=_("Route"), choices=[*words.MODES.items()], required=False)
    speed = forms.TypedChoiceField(
        label=_("Speed of the simulated driver"),
        coerce=float,
        required=False,
        empty_value=None,
        choices=[(str(speed), f"{speed}\N{MULTIPLICATION SIGN}") for speed in (1, 10, 60, 120)],
    )


class DeliveryForm:
    """The parts of a request: trip, A, B to D of which the last two may be empty, and packages."""

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        environment: str,
        points: Iterable[PickupPoint],
        anywhere: bool,
        initial: Mapping[str, Any] | None = None,
    ) -> None:
        given = initial or {}
        self.was_sent = False  # with other content, which requested a delivery
        self.is_sandbox = environment == Environment.SANDBOX
        self.trip = TripForm(data, initial=given.get("trip"))
        self.pickup = PickupForm(data, prefix="a", points=points, anywhere=anywhere, initial=given.get("a"))
        self.dropoffs = [
            DropoffForm(data, prefix=name, empty_permitted=name != "b", initial=given.get(name))
            for name in LABELS.lower()
        ]
        self.windows = WindowsForm(data)
        self.packages = [
            PackageForm(data, prefix=f"package{number}", empty_permitted=True, use_required_attribute=False)
            for number in range(1, MOST_PACKAGES + 1)
        ]
        self.packages[0].fields["quantity"].label = _("Packages")
        with timezone.override(self.zone):
            self.windows.full_clean()

    @cached_property
    def zone(self) -> ZoneInfo:
        """The time zone of A, in which moments are typed. That of the installation while A is not known."""
        self.pickup.full_clean()
        data = getattr(self.pickup, "cleaned_data", {})
        chosen = self.pickup.points.get(self.pickup.initial.get("point") or "")
        if point := data.get("position") or (chosen and not data and chosen.point):
            return zones.of_place(point.latitude, point.longitude, self.pickup.address if data else None)
        return zones.of_address(self.pickup.address if data else {})

    @property
    def parts(self) -> list[forms.Form]:
        return [self.trip, self.windows, self.pickup, *self.dropoffs, *self.packages]

    @property
    def used(self) -> list[DropoffForm]:
        """B, and those of C and D in which something is filled in."""
        return [each for each in self.dropoffs if not each.empty_permitted or each.has_changed()]

    def is_valid(self) -> bool:
        if not all(part.is_valid() for part in self.parts):
            return False
        if self.mode is Mode.REVERSE:
            for each in self.used:
                each.refuse_in_reverse()
        return not self.has_errors()

    @property
    def mode(self) -> Mode:
        return Mode(self.trip.cleaned_data["mode"] or Mode.DEFAULT)

    def has_errors(self) -> bool:
        """Whether something that was sent is refused."""
        return any(part.is_bound and part.errors for part in self.parts)

    def has_price(self) -> bool:
        """Whether everything that the price depends on is valid."""
        places = all(place.is_valid() or place.has_price for place in (self.pickup, *self.dropoffs))
        return places and all(part.is_valid() for part in (self.trip, self.windows, *self.packages))

    def checked(self) -> list[PlaceForm]:
        """A and the drop-offs of a form that was sent, each with what is valid of it."""
        for each in self.places:
            each.full_clean()
        return self.places

    @property
    def places(self) -> list[PlaceForm]:
        """A and the drop-offs in use."""
        return [self.pickup, *self.used]

    @property
    def to_locate(self) -> dict[int, dict[str, str]]:
        """The addresses without coordinates, by their index among the `places`."""
        return {index: each.address for index, each in enumerate(self.places) if each.must_be_located}

    def check_windows(self, at: datetime) -> None:
        """Raise ValidationError for windows that are refused at `at`."""
        letters = [each.prefix or "" for each in self.used]
        self.windows.check(letters, is_reverse=self.mode is Mode.REVERSE, at=at)

    @property
    def faulty(self) -> list[str]:
        """The ids of the fields that are refused."""
        return [
            part[name].id_for_label
            for part in self.parts
            if part.is_bound
            for name in part.errors
            if name != NON_FIELD_ERRORS
        ]

    def refuse_far_pins(self, found: Iterable["FarPin"]) -> None:
        """Add an error where nobody has said whether the pin or the address holds."""
        for pin in found:
            if not pin.is_kept:
                text = gettext("This place is %(km)s km from the address. Say below the price which of them holds.")
                pin.form.add_error("position", text % {"km": number_format(pin.km, 1)})

    def payload(self, located: Mapping[int, Point]) -> DeliveryRequest:
        """What the actions take, with the points of the addresses `to_locate`. Raises ValidationError, see `refuse`."""
        for index, point in located.items():
            try:
                check_served(point)
            except ValidationError as error:
                self.places[index].add_error("street", error)
                raise
        trip = self.trip.cleaned_data
        pickup, *dropoffs = (
            _place(each, located.get(index) or each.cleaned_data["position"], self.windows.of(each.prefix or ""))
            for index, each in enumerate(self.places)
        )
        return DeliveryRequest(
            vehicle_type=trip["vehicle_type"],
            mode=self.mode,
            packages=[each.package for each in self.packages if each.has_changed()],
            pickup=pickup,
            dropoffs=dropoffs,
        )

    def refuse(self, error: DeliveryError) -> None:
        """Show a refusal beside the field that it is about."""
        if isinstance(error, AddressNotLocated):
            for index, candidates in error.candidates.items():
                self.places[index].candidates = [(text, Point(*point)) for text, point in candidates]
                self.places[index].add_error("street", _several_places() if candidates else _no_place())
        elif isinstance(error, PickupNotLinked):
            self.pickup.add_error("point", refusal(error))
        elif isinstance(error, ExternalIdInUse):
            for each in self.used:
                if composed(each.cleaned_data.get("external_id") or "") == composed(str(error.values["external_id"])):
                    each.add_error("external_id", refusal(error))
        else:
            self.was_sent = isinstance(error, FormSentAlready)
            self.trip.add_error(None, refusal(error))

    def faults(self) -> Iterator[tuple[str, str, str]]:
        """Prefix of the part, name of the field (empty for the whole part), and text of each error."""
        for part in self.parts:
            for name, texts in part.errors.items():
                yield part.prefix or "", "" if name == "__all__" else name, " ".join(map(str, texts))


def _no_place() -> str:
    return gettext("No place was found for this address. Correct it, or click on the map.")


def _several_places() -> str:
    return gettext("This address is not one place on the map. Correct it, or choose the place that is meant.")


def _place(form: PlaceForm, point: Point, window: Window) -> Place:
    data = form.cleaned_data
    return Place(
        point=point,
        address=form.address,
        contact_name=data.get("name") or "",
        contact_phone=data.get("phone") or "",
        external_id=data.get("external_id") or "",
        window=window,
        options=Options(
            instructions=data.get("instructions") or "",
            email=data.get("email") or "",
            needs_photo=bool(data.get("photo")),
            has_pin=bool(data.get("pin")),
            on_failure=OnFailure(data["on_failure"]) if data.get("on_failure") else None,
        ),
    )


def like(delivery: Delivery, points: Iterable[PickupPoint]) -> dict[str, Any]:
    """Initial values for a request that is like `delivery`, without its order numbers."""
    values = {name.lower(): _initial(stop) for name, stop in zip(LABELS, delivery.ordered_stops, strict=False)}
    trip = {"vehicle_type": delivery.vehicle_type, "mode": delivery.mode}
    return {**values, "trip": trip, "a": like_pickup(delivery, points)}


def like_pickup(delivery: Delivery | None, points: Iterable[PickupPoint]) -> dict[str, Any]:
    """Initial values of A: the contact and the address of an earlier delivery."""
    if delivery is None:
        return {}
    values, key = _initial(delivery), (delivery.latitude, delivery.longitude)
    found: Callable[[PickupPoint], bool] = lambda each: (each.latitude, each.longitude) == key  # noqa: E731
    point = next(filter(found, points), None)
    return {**values, "point": "" if point is None else str(point.pk)}


def newest_of(deliveries: QuerySet[Delivery]) -> list[Delivery]:
    """Those in which contacts and addresses are looked for, with their stops. Anonymised ones are not among them."""
    known = deliveries.filter(forgotten_at=None).order_by("-created_at", "-id")
    columns = ("latitude", "longitude", "address", "contact_name", "contact_phone")
    return list(known.only(*columns).prefetch_related("stops")[:_NEWEST])


def pickups(newest: Iterable[Delivery], points: Iterable[PickupPoint]) -> dict[str, dict[str, str]]:
    """What the fields of A become when a pickup point is chosen, by its key.

    Contact and address are those of the last delivery from there, empty if none of the newest is.
    """
    earlier: dict[tuple[float, float], dict[str, str]] = {}
    for each in newest:
        earlier.setdefault((each.latitude, each.longitude), _initial(each))
    nothing = dict.fromkeys([*_TEXTS, "name", "phone"], "")
    return {
        str(each.pk): {
            **earlier.get((each.latitude, each.longitude), nothing),
            "position": f"{each.latitude:.5f}, {each.longitude:.5f}",
        }
        for each in points
    }


def receivers(newest: Iterable[Delivery]) -> dict[str, dict[str, str]]:
    """What the fields of a drop-off become for a receiver of one of the newest deliveries, by what people look for."""
    found: dict[str, dict[str, str]] = {}
    for stop in (stop for each in newest for stop in each.ordered_stops):
        street = ", ".join(filter(None, (stop.address.get("street"), stop.address.get("number"))))
        if stop.forgotten_at is None and (stop.contact_name or stop.contact_phone):
            name = " · ".join(filter(None, (stop.contact_name, street, phones.shown(stop.contact_phone))))
            found.setdefault(name, _initial(stop))
        if len(found) == _MOST_RECEIVERS:
            break
    return found


def _initial(place: Any) -> dict[str, str]:
    texts = {name: place.address.get(name, "") for name in _TEXTS}
    position = f"{place.latitude:.6f}, {place.longitude:.6f}"
    texts["zipcode"] = formats.postcode(texts["zipcode"])  # which scripts write into fields
    return {**texts, "name": place.contact_name, "phone": place.contact_phone, "position": position}


@dataclass(frozen=True)
class FarPin:
    """A place on the map that is far from its address. `is_kept`: somebody has said that the place holds."""

    form: PlaceForm
    km: float

    @property
    def name(self) -> str:
        """Of the answer to the question which of them holds."""
        return self.form.add_prefix("far")

    @property
    def value(self) -> str:
        """The answer that the place holds: another place is asked about again."""
        point = self.form.cleaned_data["position"]
        return f"{point.latitude:.5f},{point.longitude:.5f}"

    @property
    def is_kept(self) -> bool:
        return bool(self.form.data.get(self.name) == self.value)


def far_pins(form: DeliveryForm, account: UUID, at: datetime) -> list[FarPin]:
    """The places that are more than 500 m from where their street and number are."""
    found = []
    for each in form.places:
        place, is_in_a_city = each.cleaned_data.get("position"), each.address["city"] or each.address["zipcode"]
        if not isinstance(place, Point) or not is_in_a_city or not each.can_be_located:
            continue
        try:
            located = addresses.locate(addresses={0: each.address}, account=account, at=at)[0]
        except (AddressNotLocated, GeocoderUnavailable):
            continue  # nothing to compare the place with
        away = metres(located.point, place)
        if located.precision != Precision.POSTCODE and away > _FARTHEST_PIN_M:
            found.append(FarPin(each, round(away / 1000, 1)))
    return found


@dataclass(frozen=True)
class Priced:
    """What a request costs, with the Quote-Id that keeps it. `repeated`: deliveries that have an externalId of it."""

    payload: DeliveryRequest
    quote: Quote
    quote_id: str
    at: datetime
    repeated: dict[str, UUID]
    precisions: dict[str, Precision]  # of addresses that were located, by the letter of their point

    def pins(self, form: DeliveryForm) -> list[dict[str, Any]]:
        """Where the addresses of the form were found, by the id of the field that they need not fill in."""
        points = [place.point for place in (self.payload.pickup, *self.payload.dropoffs)]
        return [
            {
                "id": form.places[index]["position"].id_for_label,
                "lat": points[index].latitude,
                "lng": points[index].longitude,
            }
            for index in form.to_locate
        ]

    @property
    def arrivals(self) -> list[tuple[str, datetime]]:
        """When the driver is expected at each place, if the nearest free one sets out now."""
        return list(zip(self.payload.labels, self.quote.moments(self.payload.ready, at=self.at), strict=True))


def located(form: DeliveryForm, account: UUID, at: datetime) -> tuple[DeliveryRequest, dict[str, Precision]]:
    """The payload of a form, its addresses located, and how exactly, by the letter of the point.

    Raises ValidationError, AddressNotLocated, GeocoderUnavailable.
    """
    form.check_windows(at)  # before somebody else's server is asked
    found = addresses.locate(addresses=form.to_locate, account=account, at=at)
    payload = form.payload({index: place.point for index, place in found.items()})
    return payload, {(form.places[index].prefix or "").upper(): place.precision for index, place in found.items()}


def priced(form: DeliveryForm, scope: AccountScope, at: datetime) -> Priced:
    """The price of a form. Raises ValidationError, and the errors of `locate` and of `quote_for_request`."""
    payload, precisions = located(form, scope.integrator_id, at)
    quote = quotes.quote_for_request(token=scope, payload=payload, quote_id=None, at=at)
    stops = deliveries.build(scope, payload, quote, at).ordered_stops
    quote_id = quotes.issue(quote, token=scope, payload=payload, at=at)
    return Priced(payload, quote, quote_id, at, Stop.repeated(stops, at=at), precisions)

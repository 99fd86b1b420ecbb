"""The form of an order: a new one, also from a row of an uploaded file, and what is corrected of one.

Values are those of the API's body. What the API accepts with a warning is shown as a doubt.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, cast

from django import forms
from django.core.exceptions import ValidationError
from django.forms.utils import ErrorDict
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.accounts import Environment
from common.api.views import PayloadWarning
from common.brazil.formats import document
from common.brazil.states import state_named
from common.errors import DomainError
from common.mail import outbox
from common.measures import NumberField, decimal_places
from integration import payload_warnings, words
from integration.actions import orders
from integration.actions.orders import Freight, InvoiceData, Item, NewOrder, Receiver
from integration.errors import DuplicateOrder, FreightChanged, NoCoverage, TooHeavy
from integration.freight.calculation import Price
from integration.freight.models import FreightParameters
from integration.models import Company, Order, Seller
from integration.models.order import LONGEST_CODE, MOST_VOLUMES
from panel.address_forms import AddressForm, MomentField, check_digits, text_field

MOST_ITEMS = 10  # of a form
_LARGEST_AMOUNT, _LARGEST_SIDE, _LARGEST_WEIGHT = 999_999_999_999, 999_999, 999_999  # as in the API
_PLACES = Decimal("0.0001")  # of amounts, as the API keeps them
_SIDES = ("width", "height", "length")  # in the order of `dimensions`
_NAMES = {
    "name": "name", "document": "document", "cellphone": "cellphone", "phone": "phone", "email": "email",
}  # fmt: skip  # a table
_ADDRESS = {
    "zipcode": "zipCode", "street": "street", "number": "streetNumber", "complement": "complement",
    "district": "neighborhood", "city": "city", "state": "state",
}  # fmt: skip  # a table
_INVOICE = ("key", "number", "series")
# What the freight does not depend on, and so may still be missing when it is shown.
_WITHOUT_FREIGHT = {"order": {"code", "tracking_code"}, "invoice": {*_INVOICE, "issue_date"}}
# What is accepted and probably a mistake, by the code of the warning.
_DOUBTS = {
    "unknown_outcome": _("This number chooses no outcome of the simulation."),
    "unassigned_postcode": _("The CEP is of no region."),
    "postcode_of_another_state": _("The CEP is of another state."),
    "doubtful_phone": _("Nobody can be called by this number. Write it with its area code."),
    "order_cost_differs": _("It differs much from the sum of the items, or from the value of the invoice."),
    "side_is_zero": _("One of the sides is zero."),
    "weight_out_of_range": _("The weight is zero, or over the maximum of the tariff."),
    "invalid_document": _("The check digits of the CPF or CNPJ are wrong."),
    "invalid_access_key": _("The access key is wrong: it has 44 digits and letters. Copy it from the XML."),
    "other_model": _("The access key is of a model that does not accompany goods."),
}
_REFUSALS = {
    "company_not_found": _("The company is none of this seller's."),
    "invalid_document": _("The company is none of this seller's."),
    "foreign_company": _("The company is none of this seller's."),
    "too_many_simulations": _(
        "The simulated carrier moves 2,000 orders of this seller already. Create this one when others have ended."
    ),
    "duplicate_order": _("You have an order with this number already."),
    "account_suspended": _("The account is suspended."),
    "draft_ended": _("The order is not open any more: somebody has created or dropped it."),
    "draft_changed": _("This order has changed meanwhile. Look at it again."),
    "draft_incomplete": _("Something of the order is missing, or it is a test order."),
    "too_many_connections": _("A seller has at most %(most)s connected shops."),
    "invalid_secret": _("A secret has 1 to %(most)s characters."),
    "freight_changed": _("The freight has changed meanwhile. Compare it before you go on."),
    "order_not_pending": _("The order does not wait for collection any more, and cannot be corrected."),
    "order_forgotten": _("The receiver is anonymised, and cannot be corrected."),
    "corrected_meanwhile": _("Somebody else has corrected the order meanwhile. Look at it again."),
}


def refusal(error: DomainError) -> str:
    """Why an order was not created or corrected, in the reader's language."""
    return str(_REFUSALS[error.code]) % error.values


class HeadForm(forms.Form):
    """What concerns the whole order."""

    company = forms.ChoiceField(label=_("Company"))
    code = text_field(_("Order number"), LONGEST_CODE, required=True, validators=[check_digits])
    service = forms.ChoiceField(label=_("Service"), choices=[*words.ORDER_SERVICES.items()])
    volumes = forms.IntegerField(label=_("Volumes"), min_value=1, max_value=MOST_VOLUMES, required=False, initial=1)
    cost = NumberField(
        label=_("Order value (R$)"),
        places=2,
        largest=_LARGEST_AMOUNT,
        required=False,
        help_text=_("Empty: the sum of the items."),
    )
    tracking_code = text_field(_("Tracking code"), LONGEST_CODE, validators=[check_digits])

    def __init__(self, *args: Any, companies: Iterable[Company], is_new: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if is_new:
            named = [(each.document, f"{each.name} {document(each.document)}".strip()) for each in companies]
            cast("forms.ChoiceField", self.fields["company"]).choices = named
            self.fields["tracking_code"].help_text = _("Empty: one is made.")
        else:
            for name in ("company", "code", "tracking_code"):
                del self.fields[name]


class ReceiverForm(AddressForm):
    """Who receives it, and where."""

    document = text_field(_("CPF or CNPJ"), validators=[check_digits], inputmode="numeric")
    cellphone = text_field(
        _("Mobile phone"), validators=[check_digits], inputmode="tel", placeholder="+55 11 98888-0000"
    )
    phone = text_field(_("Other phone"), validators=[check_digits], inputmode="tel")
    email = forms.EmailField(
        label=_("Email"),
        max_length=outbox.LONGEST_ADDRESS,
        required=False,
        widget=forms.EmailInput({"autocomplete": "off"}),
    )
    field_order = ["name", "document", "cellphone", "phone", "email"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in ("name", *_ADDRESS):
            self.fields[name].required = self.fields[name].widget.is_required = name != "complement"

    def clean_state(self) -> str:
        text: str = self.cleaned_data["state"]
        state = state_named(text)
        if text and not state:
            raise ValidationError(gettext("Write a state, such as SP."))
        return state

    @property
    def receiver(self) -> Receiver:
        data = self.cleaned_data
        said = {key: data[name] for name, key in _NAMES.items() if data.get(name)}
        address = {
            key: data.get(name) or "" for name, key in _ADDRESS.items() if data.get(name) or name != "complement"
        }
        return cast("Receiver", {"name": "", **said, "address": address})


class ItemForm(forms.Form):
    """Pieces of one kind."""

    description = text_field(_("Contents"), 1000, required=True)
    quantity = forms.IntegerField(label=_("Quantity"), min_value=1, max_value=_LARGEST_SIDE, initial=1)
    price = NumberField(label=_("Price each (R$)"), places=2, largest=_LARGEST_AMOUNT)
    weight = NumberField(label=_("Weight each (kg)"), places=3, largest=_LARGEST_WEIGHT, positive=True)
    length = NumberField(label=_("Length (cm)"), largest=_LARGEST_SIDE, positive=True)
    width = NumberField(label=_("Width (cm)"), largest=_LARGEST_SIDE, positive=True)
    height = NumberField(label=_("Height (cm)"), largest=_LARGEST_SIDE, positive=True)

    is_needed = False

    @property
    def is_blank(self) -> bool:
        """Whether it says nothing of an item: it was not filled in, or emptied to delete the item."""
        return not any(self[name].value() for name in self.fields if name != "quantity")

    @property
    def has_notes(self) -> bool:
        """Whether something stands below a field, as of an order that has changed meanwhile."""
        return any(bound.help_text for bound in self)

    def full_clean(self) -> None:
        super().full_clean()
        if self.is_bound and self.is_blank and not self.is_needed:
            self._errors = ErrorDict()

    @property
    def item(self) -> Item:
        data = self.cleaned_data
        return Item(
            description=data["description"],
            dimensions=self.dimensions_of(data),
            quantity=data["quantity"],
            price=data["price"].quantize(_PLACES),
        )

    @staticmethod
    def dimensions_of(data: Mapping[str, Any]) -> str:
        """Sides and weight as the API has them."""
        sides = "x".join(f"{int(data[name])}" for name in _SIDES)
        return f"{sides},{data['weight'].normalize():f}"

    @staticmethod
    def measures_of(dimensions: str) -> dict[str, str]:
        """The initial values of sides and weight."""
        sides, _comma, weight = dimensions.partition(",")
        measures = {**dict(zip(_SIDES, sides.split("x"), strict=True)), "weight": weight}
        return {name: f"{Decimal(text).normalize():f}" for name, text in measures.items()}

    @staticmethod
    def initial_of(item: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "description": item["description"],
            "quantity": item["quantity"],
            "price": _text(item["price"]),
            **ItemForm.measures_of(item["dimensions"]),
        }


class InvoiceForm(forms.Form):
    """The invoice that the order names, if it names one."""

    key = text_field(_("Access key"), validators=[check_digits], inputmode="numeric")
    number = text_field(_("Invoice number"), validators=[check_digits])
    series = text_field(_("Series"))
    issue_date = MomentField(_("Issued at"))
    value = NumberField(label=_("Invoice value (R$)"), places=2, largest=_LARGEST_AMOUNT, required=False)

    def clean_issue_date(self) -> str:
        """As the API takes it: the local time of the invoice, without a zone."""
        moment = self.cleaned_data["issue_date"]
        return f"{timezone.make_naive(moment):%Y-%m-%d %H:%M:%S}" if moment else ""

    @property
    def invoice(self) -> InvoiceData | None:
        data = self.cleaned_data
        said: dict[str, Any] = {name: data[name] for name in _INVOICE if data.get(name)}
        if data.get("issue_date"):
            said["issueDate"] = data["issue_date"]
        if data.get("value") is not None:
            said["value"] = data["value"].quantize(_PLACES)
        return cast("InvoiceData", said) if said else None

    @staticmethod
    def initial_of(invoice: Mapping[str, Any]) -> dict[str, Any]:
        texts = {name: invoice.get(name) or "" for name in _INVOICE}
        issued = (invoice.get("issueDate") or "").replace(" ", "T")
        value = invoice.get("value")
        return {**texts, "issue_date": issued, "value": "" if value is None else _text(value)}


def _text(amount: Any) -> str:
    return f"{Decimal(str(amount)).normalize():f}"


class OrderForm:
    """The parts of an order. Of one that is corrected, those in which nothing was changed are as before.

    `start`: what is known of a new one.
    """

    def __init__(
        self,
        data: Mapping[str, Any] | None = None,
        *,
        companies: Sequence[Company],
        environment: str,
        order: Order | None = None,
        start: NewOrder | None = None,
        most_items: int = MOST_ITEMS,
    ) -> None:
        self.environment, self.order, self.start = environment, order, start
        self.companies = {each.document: each for each in companies}
        self.before = None if order is None else NewOrder.of(order)
        given = _initial(self.before or start)
        kept: dict[str, Any] = {"empty_permitted": order is not None, "use_required_attribute": order is None}
        self.head = HeadForm(
            data, prefix="order", initial=given.get("order"), companies=companies, is_new=order is None, **kept
        )
        self.receiver = ReceiverForm(data, prefix="to", initial=given.get("to"), **kept)
        items = given.get("items", [])
        # An order of the API may have more than a form shows; they are corrected by the API.
        self.has_all_items = len(items) <= most_items
        self.items = [
            ItemForm(
                data,
                prefix=f"item{number}",
                initial=items[number - 1] if number <= len(items) else None,
                empty_permitted=order is not None,
                use_required_attribute=order is None and number == 1,
            )
            for number in range(1, most_items + 1)
            if self.has_all_items
        ]
        if self.items and not self.used_items:
            self.items[0].is_needed, self.items[0].empty_permitted = True, False
        self.invoice = InvoiceForm(
            data, prefix="invoice", initial=given.get("invoice"), empty_permitted=True, use_required_attribute=False
        )
        for part in self.parts:
            _keep_places(part)

    @property
    def parts(self) -> list[forms.Form]:
        return [self.head, self.receiver, *self.items, self.invoice]

    @property
    def used_items(self) -> list[ItemForm]:
        return [each for each in self.items if each.is_needed or not each.is_blank]

    def is_valid(self) -> bool:
        return all([part.is_valid() for part in self.parts])  # noqa: C419  # each is checked

    def has_errors(self) -> bool:
        return any(part.is_bound and part.errors for part in self.parts)

    def has_freight(self) -> bool:
        """Whether everything that the freight depends on is valid."""
        if self.is_valid():
            return True
        others = {"to": set(self.receiver.fields) - {"zipcode"}, **_WITHOUT_FREIGHT}
        return all(not part.errors.keys() - others.get(part.prefix or "", set()) for part in self.parts)

    @property
    def payload(self) -> NewOrder:
        """What the actions take. Of a form that is not valid what the freight depends on."""
        if self.before is not None:
            return replace(self.before, **self.changes)
        data = self.head.cleaned_data
        items = [each.item for each in self.used_items]
        if self.start is not None and not self.has_all_items:
            items = self.start.items
        cost = data.get("cost")
        return NewOrder(
            company_document=data["company"],
            code=data.get("code") or "",
            tracking_code=data.get("tracking_code") or "",
            service=data["service"],
            cost=_sum(items) if cost is None else cost.quantize(_PLACES),
            items=items,
            receiver=self.receiver.receiver,
            invoice=self.invoice.invoice,
            volumes=data.get("volumes") or 1,
        )

    @property
    def changes(self) -> dict[str, Any]:
        """Of an order that is corrected: the values by names of NewOrder's fields, of what was changed."""
        assert self.before is not None  # noqa: S101  # nosec B101  # of a correction
        found: dict[str, Any] = {}
        before = dict(zip(self.items, self.before.items, strict=False))
        if any(each.has_changed() for each in self.items):
            found["items"] = [each.item if each.has_changed() else before[each] for each in self.used_items]
        for name in self.head.changed_data:
            found[name] = self.head.cleaned_data[name]
        if "volumes" in found:
            found["volumes"] = found["volumes"] or 1
        if "cost" in found and found["cost"] is None:
            found["cost"] = _sum(found.get("items", self.before.items))
        if self.receiver.has_changed():
            found["receiver"] = self.receiver.receiver
        if self.invoice.has_changed():
            found["invoice"] = self.invoice.invoice
        return found

    def doubts(self) -> Iterator[tuple[str, str]]:
        """The key of the field and the text of each thing that is accepted and probably a mistake."""
        heaviest = FreightParameters.current().max_weight_g
        changed = None if self.before is None else {_BODY.get(name, name) for name in self.changes}
        for each in payload_warnings.of(self.payload, environment=self.environment, heaviest_g=heaviest):
            if each.code in _DOUBTS and (changed is None or each.path[0] in changed):
                yield self._key(each), str(_DOUBTS[each.code])

    def _key(self, warning: PayloadWarning) -> str:
        match warning.path:
            case ("items", int(index), _name):
                return f"{self.used_items[index].prefix}-weight"
            case ("receiver", "address", str(name)):
                return next(f"to-{field}" for field, key in _ADDRESS.items() if key == name)
            case ("receiver", str(name)):
                return f"to-{name}"
            case ("invoice", str(name)):
                return f"invoice-{name}"
            case ("orderCost",):
                return "order-cost"
        return "order-code"

    def label(self, key: str) -> str:
        """Of a field, by its key."""
        prefix, _hyphen, name = key.partition("-")
        return next((str(part.fields[name].label) for part in self.parts if part.prefix == prefix), "")

    @property
    def origin(self) -> str:
        """The postcode of the company."""
        if self.order is not None:
            return self.order.company.postcode
        return self.companies[self.head.cleaned_data["company"]].postcode

    def refuse_taken(self, holder: Order) -> None:
        """Say beside the field that another order has its number."""
        is_code = holder.code == self.payload.code
        text = gettext("You have an order with this number already.")
        if not is_code:
            text = gettext("Order %(order)s has this tracking code already.") % {"order": holder.code}
        self.head.add_error("code" if is_code else "tracking_code", text)

    @property
    def faulty(self) -> list[str]:
        """The ids of the fields that are refused."""
        return [part[name].id_for_label for part in self.parts for name in part.errors if name in part.fields]

    def faults(self) -> Iterator[tuple[str, str]]:
        """The key of the field and the text of each error."""
        for part in self.parts:
            for name, texts in part.errors.items():
                yield f"{part.prefix}-{name}", " ".join(map(str, texts))


# The keys of a body by the names of NewOrder's fields, where they differ.
_BODY = {"cost": "orderCost"}


def _initial(order: NewOrder | None) -> dict[str, Any]:
    """The initial values of each part."""
    if order is None:
        return {}
    receiver: Mapping[str, Any] = order.receiver
    address: Mapping[str, Any] = receiver["address"]
    return {
        "order": {
            "company": order.company_document,
            "code": order.code,
            "tracking_code": order.tracking_code,
            "service": order.service,
            "volumes": order.volumes,
            "cost": _text(order.cost),
        },
        "to": {name: receiver.get(key) or "" for name, key in _NAMES.items()}
        | {name: address.get(key) or "" for name, key in _ADDRESS.items()},
        "items": [ItemForm.initial_of(item) for item in order.items],
        "invoice": InvoiceForm.initial_of(order.invoice or {}),
    }


def _keep_places(part: forms.Form) -> None:
    """Take as many decimal places as the API has taken of an order that is corrected."""
    for name, field in part.fields.items():
        if isinstance(field, NumberField) and (text := part.initial.get(name)):
            field.places = max(field.places, decimal_places(Decimal(text)))


def _sum(items: Iterable[Item]) -> Decimal:
    return sum((each["price"] * each["quantity"] for each in items), Decimal(0))


@dataclass(frozen=True)
class Priced:
    """What an order costs, with what is doubtful of it."""

    freight: Freight
    doubts: list[tuple[str, str]]  # label and text

    @property
    def price(self) -> Price | None:
        return self.freight if isinstance(self.freight, Price) else None

    @property
    def agreed(self) -> str:
        """What a person sees, to compare it when the order is created."""
        return said(self.freight)

    @property
    def why_none(self) -> str:
        """Why there is no freight; empty with one."""
        if self.price:
            return ""
        if isinstance(self.freight, TooHeavy):
            return gettext("The weight is over the maximum of the tariff: not served.")
        if isinstance(self.freight, NoCoverage):
            return gettext("The tariff has no rate for this service and way.")
        return gettext("The company has no origin CEP, so that no freight is computed. Staff enter it.")


def priced(form: OrderForm) -> Priced:
    doubts = [(form.label(key), text) for key, text in form.doubts()] if form.is_valid() else []
    return Priced(orders.freight_of(form.payload, form.origin), doubts)


def said(freight: Freight) -> str:
    return f"{freight.amount} {freight.deadline}" if isinstance(freight, Price) else "-"


def as_agreed(agreed: str) -> Callable[[Freight], None]:
    """What raises FreightChanged for another freight than a person has seen."""

    def check(freight: Freight) -> None:
        if said(freight) != agreed:
            raise FreightChanged

    return check


def create(
    form: OrderForm, *, seller: Seller, agreed: str, by: str, at: datetime, on_doubts: Any = lambda _doubts: None
) -> tuple[Order, bool]:
    """The order of a form, and whether it was there before with the same content: a double click sends a form twice.

    Raises DuplicateOrder, FreightChanged, and the other errors of `orders.create`.
    """
    payload = form.payload
    try:
        made = orders.create(
            seller=seller,
            environment=form.environment,
            payload=payload,
            by=by,
            at=at,
            simulation_speed=1 if form.environment == Environment.SANDBOX else None,
            on_doubts=on_doubts,
            on_freight=as_agreed(agreed),
        )
    except DuplicateOrder:
        found = orders.holder_of_codes(seller=seller, environment=form.environment, payload=payload)
        if found is None or not says(found, payload):
            raise
        return found, True
    return made, False


def says(order: Order, payload: NewOrder) -> bool:
    """Whether an order says the same as a new one, but for a tracking code that was generated."""
    known = NewOrder.of(order)
    return known == replace(payload, tracking_code=payload.tracking_code or known.tracking_code)

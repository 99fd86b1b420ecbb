"""What people type into the panel. Rules are the actions'; a form turns text into values and refusals into words."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common import clock
from common.accounts import Role, validate_name
from common.brazil import zones
from common.brazil.formats import moment
from common.mail import outbox
from common.webhooks import endpoints
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.models import Endpoint
from delivery import words
from delivery.alerts.models import LEAST_MINUTES, MOST_MINUTES
from delivery.geo.distance import Point
from delivery.models import Integrator
from delivery.places import geocoding
from delivery.refusals import refusal
from integration import postcodes
from integration.errors import NoCoverage
from integration.models import (
    Authentication,
    AuthenticationKind,
    Company,
    Seller,
    WebhookEndpoint,
    compact_document,
)
from integration.models.seller import validate_document
from integration.papers.label_pdf import PER_A4, Size
from panel.address_forms import PostcodeField
from panel.filters import CHOICES, MOMENT_INPUT, PERIODS, RANGE

# The period of `RangeForm` that begins with the first failed event.
SINCE_FIRST_FAILURE = "failure"
_MOST_COMPANIES = 50


class CredentialNameForm(forms.Form):
    """The name of a token or an API key, for people."""

    name = forms.CharField(
        label=_("Name"),
        max_length=60,
        required=False,
        widget=forms.TextInput({"autocomplete": "off", "placeholder": _("For example: online shop")}),
    )


class UrlForm(forms.Form):
    """Where webhooks go. What is allowed is judged by the action, which says why not."""

    url = forms.CharField(
        label=_("Webhook URL"),
        max_length=2000,
        required=False,
        help_text=_("https:// on a public host, port 443 or 8443. Empty: nothing is sent."),
        widget=forms.TextInput(
            {"placeholder": _("https://shop.example.com/rota"), "inputmode": "url", "autocomplete": "off"}
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.WEBHOOK_ALLOW_LOOPBACK:
            self.fields["url"].help_text = _(
                "https:// on a public host, port 443 or 8443, or http://127.0.0.1 on this machine. Empty: nothing is "
                "sent."
            )


class StatusesForm(forms.Form):
    """The filter of an endpoint. `statuses`: those of its area with their names."""

    statuses = forms.MultipleChoiceField(
        label=_("Send changes to"),
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one. To send nothing, remove the URL.")},
    )

    def __init__(self, *args: Any, statuses: Mapping[str, Any], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["statuses"]
        field.choices = [(status, f"{name} ({status})") for status, name in statuses.items()]


class NewEndpointForm(StatusesForm, UrlForm):
    """A further endpoint, with the URL that it is added for."""

    field_order = ["url", "statuses"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["url"].required = True
        self.fields["url"].help_text = _("https:// on a public host, port 443 or 8443.")


class AuthenticationForm(forms.Form):
    """What a seller's webhooks carry. The action judges the texts. The secret that is stored is not shown again."""

    kind = forms.ChoiceField(label=_("Your server recognises webhooks by"), choices=AuthenticationKind.choices)
    name = forms.CharField(
        label=_("Name of the header"),
        required=False,
        max_length=200,
        help_text=_("Of a header of your own, such as X-Api-Key."),
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    secret = forms.CharField(
        label=_("Password, token or value"),
        required=False,
        max_length=2000,
        help_text=_("For Basic user:password. Write it again with each change."),
        widget=forms.TextInput({"autocomplete": "off", "spellcheck": "false"}),
    )

    @classmethod
    def of(cls, endpoint: WebhookEndpoint) -> "AuthenticationForm":
        return cls(initial={"kind": endpoint.authentication_kind, "name": endpoint.header_name})

    @property
    def authentication(self) -> Authentication:
        kind = AuthenticationKind(self.cleaned_data["kind"])
        if kind == AuthenticationKind.NONE:
            return Authentication()
        name = self.cleaned_data["name"] if kind == AuthenticationKind.HEADER else ""
        return Authentication(kind, self.cleaned_data["secret"], name)


class AlertTimesForm(forms.Form):
    """After how many minutes people are told about a delivery."""

    untaken_minutes = forms.IntegerField(
        label=_("Minutes without a driver"),
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        help_text=_("Since the request."),
    )
    late_minutes = forms.IntegerField(
        label=_("Minutes late"),
        min_value=LEAST_MINUTES,
        max_value=MOST_MINUTES,
        help_text=_("Beyond the time by which the next step was due."),
    )


class AlertUrlForm(forms.Form):
    """Where alerts are posted. What is allowed is judged by the action."""

    url = forms.CharField(
        label=_("Address of the chat, or URL"),
        max_length=2000,
        required=False,
        widget=forms.TextInput(
            {
                "placeholder": "https://hooks.slack.com/services/…",
                "inputmode": "url",
                "autocomplete": "off",
                "required": True,  # another button removes the URL
            }
        ),
    )


class InvitationForm(forms.Form):
    """Who is invited, and as what. The action checks the address."""

    email = forms.CharField(
        label=_("Email"),
        max_length=254,
        widget=forms.EmailInput({"autocomplete": "off", "placeholder": "ana@example.com"}),
    )
    role = forms.ChoiceField(
        label=_("Role"),
        choices=Role.choices,
        initial=Role.MEMBER,
    )


class RangeForm(forms.Form):
    """When the failed events that are sent again were created: within a period until now, or between two moments.

    A valid form has `since` and `until`. `first_failure`: when the first of the failed events was created, or None.
    """

    period = forms.ChoiceField(required=False, widget=forms.RadioSelect)
    since = forms.DateTimeField(label=_("From"), required=False, widget=MOMENT_INPUT)
    until = forms.DateTimeField(label=_("Until"), required=False, widget=MOMENT_INPUT)

    def __init__(self, data: Mapping[str, Any], *, first_failure: datetime | None) -> None:
        values = {name: data.get(name, "") for name in self.base_fields}
        standard = SINCE_FIRST_FAILURE if first_failure else "day"
        values["period"] = values["period"] or (RANGE if values["since"] or values["until"] else standard)
        super().__init__(values, auto_id="again_%s")
        self._first_failure = first_failure
        since = gettext("Since the first failure, %(at)s") % {"at": moment(first_failure)}
        choices = [(SINCE_FIRST_FAILURE, since)] if first_failure else []
        self.fields["period"] = forms.ChoiceField(
            required=False, widget=forms.RadioSelect, choices=[*choices, *CHOICES]
        )
        self.fields["since"].help_text = self.fields["until"].help_text = zones.by_clocks()

    def clean(self) -> None:
        cleaned, now = super().clean() or self.cleaned_data, clock.now()
        period = cleaned.get("period")
        if period == RANGE:
            self._check_range(cleaned)
        elif period == SINCE_FIRST_FAILURE:
            cleaned["since"], cleaned["until"] = self._first_failure, now
        elif period:
            cleaned["since"], cleaned["until"] = now - PERIODS[period], now

    def _check_range(self, cleaned: dict[str, Any]) -> None:
        for name in ("since", "until"):
            if name not in self.errors and not cleaned.get(name):
                self.add_error(name, _("Choose date and time."))
        if cleaned.get("since") and cleaned.get("until") and cleaned["since"] >= cleaned["until"]:
            self.add_error("until", _("The end lies before the beginning."))


class PositionField(forms.CharField):
    """Coordinates, or a link to a place on a map. The value is a Point, or None for an empty field."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        point = geocoding.point_in(text)
        if point is None:
            raise ValidationError(
                _(
                    "No coordinates were found in this text. A shortened link contains none: open it, and copy the "
                    "address that the browser shows then."
                )
            )
        return point


class ServedPostcodeField(PostcodeField):
    """A CEP that a region has."""

    def validate(self, value: str) -> None:
        super().validate(value)
        if not value:
            return
        try:
            postcodes.region(value)
        except NoCoverage as error:
            raise ValidationError(_("No region has this CEP: it is not served.")) from error


class PickupPointForm(forms.Form):
    """A pickup point that a member registers."""

    name = forms.CharField(label=_("Name"), max_length=120, validators=[validate_name])
    position = PositionField(
        label=_("Place on the map"),
        max_length=2000,
        help_text=_("Click on the map, or paste coordinates or a link of Google Maps or OpenStreetMap."),
        widget=forms.TextInput({"data-position": "", "autocomplete": "off", "placeholder": "-23.56141, -46.65588"}),
    )


class PlaceForm(forms.Form):
    """The pickup point of an account: a place on the map, or anywhere."""

    place_name = forms.CharField(
        label=_("Name of the pickup point"),
        max_length=120,
        required=False,
        widget=forms.TextInput({"placeholder": _("The account's name")}),
    )
    position = PositionField(
        label=_("Google Maps link or coordinates"),
        max_length=2000,
        required=False,
        help_text=_("Links of OpenStreetMap work too. The place then appears on the map, where the pin can be moved."),
        widget=forms.TextInput({"data-position": "", "autocomplete": "off", "placeholder": "-23.56141, -46.65588"}),
    )
    allow_any_pickup = forms.BooleanField(
        label=_("Pick up anywhere"),
        required=False,
        help_text=_("Requests may start at any address, not only near this point."),
    )

    def clean(self) -> None:
        cleaned = super().clean() or self.cleaned_data
        has_place = "position" not in cleaned or isinstance(cleaned["position"], Point)
        if not has_place and not cleaned.get("allow_any_pickup"):
            self.add_error("position", _("Give the pickup point, or let the account pick up anywhere."))


class _FirstPerson(forms.Form):
    email = forms.CharField(
        label=_("Email of the first person"),
        max_length=254,
        required=False,
        help_text=_("Gets an invitation as owner, and invites the others."),
        widget=forms.EmailInput({"autocomplete": "off", "placeholder": "ana@example.com"}),
    )

    def clean_email(self) -> str:
        text: str = self.cleaned_data["email"]
        return outbox.clean_address(text) if text else ""


class NewAccountForm(PlaceForm, UrlForm, _FirstPerson):
    """Everything that is known of a new account. Tokens are issued without being asked for."""

    name = forms.CharField(label=_("Name"), max_length=120, validators=[validate_name])
    refuse_repeated_external_ids = forms.BooleanField(
        label=_("Refuse repeated external ids"),
        required=False,
        help_text=_(
            "For shops whose order numbers are unique: a request with an externalId of the last 24 hours is refused, "
            "unless that order has failed. Otherwise it is accepted with a warning."
        ),
    )

    field_order = [
        "name",
        "place_name",
        "position",
        "allow_any_pickup",
        "refuse_repeated_external_ids",
        "url",
        "email",
    ]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Integrator.objects.filter(name__composed__iexact=name).exists():
            raise ValidationError(_("There is an account with this name already."))
        return name


class NewSellerForm(_FirstPerson):
    """A new seller with the companies in whose name it ships."""

    name = forms.CharField(label=_("Name"), max_length=120, validators=[validate_name])
    documents = forms.CharField(
        label=_("Companies"),
        max_length=5000,
        help_text=_("A CNPJ or CPF in each line, with or without mask."),
        widget=forms.Textarea({"rows": 4, "placeholder": "11.222.333/0001-81"}),
    )
    origin = ServedPostcodeField(
        label=_("Origin CEP"),
        required=False,
        help_text=_("Where their parcels leave from. Orders get a freight from here; without it they get none."),
    )

    field_order = ["name", "documents", "origin", "email"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Seller.objects.filter(name__composed__iexact=name).exists():
            raise ValidationError(_("There is a seller with this name already."))
        return name

    def clean_documents(self) -> list[str]:
        """The documents without mask. Names the lines that are wrong or registered already."""
        lines = [line.strip() for line in self.cleaned_data["documents"].splitlines() if line.strip()]
        if len(lines) > _MOST_COMPANIES:
            raise ValidationError(_("At most %(most)s companies at once."), params={"most": _MOST_COMPANIES})
        documents = [compact_document(line) for line in lines]
        taken = set(Company.objects.filter(document__in=documents).values_list("document", flat=True))
        errors = []
        for line, document in zip(lines, documents, strict=True):
            try:
                validate_document(document)
            except ValidationError:
                text = _("'%(line)s' is neither a CNPJ nor a CPF: its check digits do not fit.")
                errors.append(ValidationError(text, params={"line": line[:40]}))
            if document in taken or documents.count(document) > 1:
                errors.append(ValidationError(_("'%(line)s' is registered already."), params={"line": line[:40]}))
        if errors:
            raise ValidationError(errors)
        return documents


class LabelForm(forms.Form):
    """How labels are printed."""

    size = forms.ChoiceField(
        label=_("Paper"),
        choices=[
            (Size.CM_10X15.value, _("10 by 15 cm")),
            (Size.A6.value, "A6"),
            (Size.A4.value, _("A4, four on a sheet")),
        ],
    )
    position = forms.TypedChoiceField(
        label=_("First place on the sheet"),
        coerce=int,
        choices=[(number, number) for number in range(1, PER_A4 + 1)],
    )
    format = forms.ChoiceField(
        label=pgettext_lazy("of a file", "Format"),
        choices=[("pdf", "PDF"), ("zpl", _("ZPL, for label printers (10 by 15 cm)"))],
    )


class PolicyForm(forms.Form):
    on_failure = forms.ChoiceField(label=_("When a drop-off fails"), choices=[*words.POLICIES.items()])


def checked_url(form: Any, *, of: Endpoint | None) -> endpoints.CheckedUrl | None:
    """The form's webhook URL if webhooks may be sent to it; otherwise None, and the form says why not."""
    try:
        return endpoints.check_url(form.cleaned_data["url"], of=of)
    except InvalidWebhookUrl as error:
        form.add_error("url", refusal(error))
        return None

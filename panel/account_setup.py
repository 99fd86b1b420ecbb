"""Bringing in integrators and sellers: the forms, what the form and the page of an account share, and the steps.

The state of each step is read from the account, so that staff can go on later.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.fernet import InvalidToken
from django import forms
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from access import invitations
from access.teams import Account, TeamRefusal
from common import clock, credentials
from common.accounts import Role, validate_name
from common.actors import actor
from common.mail import outbox
from common.webhooks.address_guard import InvalidWebhookUrl
from delivery.actions import endpoints, tokens
from delivery.geo import geocoding
from delivery.geo.distance import Point
from delivery.models import Environment, Integrator, PickupPoint, WebhookAttempt, WebhookEndpoint, WebhookEvent
from delivery.refusals import refusal
from integration.models import Company, Seller, compact_document
from integration.models.seller import validate_document
from panel.ciphertexts import FRESH_LINK
from panel.forms import UrlForm
from panel.languages import page_language

# Session key of the ids of the tokens whose clear text the access sheet shows, once.
ISSUED = "tokens_of_sheet"
_MOST_COMPANIES = 50


def checked_url(form: Any) -> endpoints.CheckedUrl | None:
    """The form's webhook URL if webhooks may be sent to it; otherwise None, and the form says why not."""
    try:
        return endpoints.check_url(form.cleaned_data["url"])
    except InvalidWebhookUrl as error:
        form.add_error("url", refusal(error))
        return None


def add_place(account: Integrator, form: Any) -> None:
    """Add the form's place, if it has one, as a pickup point."""
    if point := form.cleaned_data["position"]:
        name = form.cleaned_data["place_name"] or account.name
        PickupPoint.objects.create(integrator=account, name=name, latitude=point.latitude, longitude=point.longitude)


def issue_tokens(account: Integrator, request: HttpRequest) -> None:
    """Issue a token for each environment that has none. The next access sheet shows them. Raises TooManyTokens."""
    by, at = actor(request), clock.now()
    missing = [each for each in Environment if not account.tokens.filter(environment=each).valid(at=at).exists()]
    issued = [tokens.issue(integrator=account, environment=each, by=by, at=at) for each in missing]
    request.session[ISSUED] = [*request.session.get(ISSUED, []), *(str(token.pk) for token in issued)]


def store_url(account: Integrator, url: endpoints.CheckedUrl, *, by: str, at: datetime) -> WebhookEvent:
    """Set the URL of both environments, and send a test event to that of the sandbox. Raises EndpointCannotSend."""
    for endpoint in account.endpoints.all():
        endpoints.store_url(endpoint=endpoint, url=url, by=by, at=at)
    sandbox = account.endpoints.get(environment=Environment.SANDBOX)
    return endpoints.send_test(endpoint=sandbox, by=by, at=at)


@dataclass(frozen=True)
class Step:
    """A step of the set-up, and whether it is done."""

    name: str
    title: str
    is_done: bool


def of(account: Integrator, endpoint: WebhookEndpoint, attempt: WebhookAttempt | None, *, at: datetime) -> list[Step]:
    """The steps in the order in which the page has them.

    `endpoint` is the one that test events are sent to, `attempt` the last attempt at the latest test event. The
    endpoint's last success is written after it and would contradict it for a moment.
    """
    is_received = endpoint.last_success_at is not None or (attempt is not None and attempt.succeeded)
    has_place = account.allow_any_pickup or account.pickup_points.active().exists()
    valid = {token.environment for token in account.tokens.valid(at=at)}
    is_staffed = account.members.exists() or invitations.pending(account).exists()
    return [
        Step("place", _("Pickup point"), has_place),
        Step("webhook", _("Webhook"), is_received),
        Step("tokens", _("Tokens"), valid == set(Environment.values)),
        Step("people", _("People"), is_staffed),
    ]


def context(
    account: Integrator, endpoint: WebhookEndpoint, attempt: WebhookAttempt | None, *, at: datetime
) -> dict[str, Any]:
    """What `panel/setup_steps.html` shows."""
    steps = of(account, endpoint, attempt, at=at)
    return {
        "steps": steps,
        "done": {each.name: each.is_done for each in steps},
        "all_done": all(each.is_done for each in steps),
    }


class PositionField(forms.CharField):
    """Coordinates, or a link to a place on a map. The value is a Point, or None for an empty field."""

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        point = geocoding.point_in(text)
        if point is None:
            raise ValidationError(
                gettext_lazy(
                    "No coordinates were found in this text. A shortened link contains none: open it, and copy the "
                    "address that the browser shows then."
                )
            )
        return point


class PlaceForm(forms.Form):
    """The pickup point of an account: a place on the map, or anywhere."""

    place_name = forms.CharField(
        label=gettext_lazy("Name of the pickup point"),
        max_length=120,
        required=False,
        widget=forms.TextInput({"placeholder": gettext_lazy("The account's name")}),
    )
    position = PositionField(
        label=gettext_lazy("Google Maps link or coordinates"),
        max_length=2000,
        required=False,
        help_text=gettext_lazy(
            "Links of OpenStreetMap work too. The place then appears on the map, where the pin can be moved."
        ),
        widget=forms.TextInput({"data-position": "", "autocomplete": "off", "placeholder": "-23.56141, -46.65588"}),
    )
    allow_any_pickup = forms.BooleanField(
        label=gettext_lazy("Pick up anywhere"),
        required=False,
        help_text=gettext_lazy("Requests may start at any address, not only near this point."),
    )

    def clean(self) -> None:
        cleaned = super().clean() or self.cleaned_data
        has_place = "position" not in cleaned or isinstance(cleaned["position"], Point)
        if not has_place and not cleaned.get("allow_any_pickup"):
            self.add_error("position", gettext_lazy("Give the pickup point, or let the account pick up anywhere."))


class WebhookForm(UrlForm):
    """The URL, which both environments get."""


class _FirstPerson(forms.Form):
    email = forms.CharField(
        label=gettext_lazy("Email of the first person"),
        max_length=254,
        required=False,
        help_text=gettext_lazy("Gets an invitation as owner, and invites the others."),
        widget=forms.EmailInput({"autocomplete": "off", "placeholder": "ana@example.com"}),
    )

    def clean_email(self) -> str:
        text: str = self.cleaned_data["email"]
        return outbox.clean_address(text) if text else ""


class NewAccountForm(PlaceForm, UrlForm, _FirstPerson):
    """Everything that is known of a new account. Tokens are issued without being asked for."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=120, validators=[validate_name])

    field_order = ["name", "place_name", "position", "allow_any_pickup", "url", "email"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Integrator.objects.filter(name__iexact=name).exists():
            raise ValidationError(gettext_lazy("There is an account with this name already."))
        return name


class NewSellerForm(_FirstPerson):
    """A new seller with the companies in whose name it ships."""

    name = forms.CharField(label=gettext_lazy("Name"), max_length=120, validators=[validate_name])
    documents = forms.CharField(
        label=gettext_lazy("Companies"),
        max_length=5000,
        help_text=gettext_lazy("A CNPJ or CPF in each line, with or without mask."),
        widget=forms.Textarea({"rows": 4, "placeholder": "11.222.333/0001-81"}),
    )

    field_order = ["name", "documents", "email"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if Seller.objects.filter(name__iexact=name).exists():
            raise ValidationError(gettext_lazy("There is a seller with this name already."))
        return name

    def clean_documents(self) -> list[str]:
        """The documents without mask. Names the lines that are wrong or registered already."""
        lines = [line.strip() for line in self.cleaned_data["documents"].splitlines() if line.strip()]
        if len(lines) > _MOST_COMPANIES:
            raise ValidationError(gettext_lazy("At most %(most)s companies at once."), params={"most": _MOST_COMPANIES})
        documents = [compact_document(line) for line in lines]
        taken = set(Company.objects.filter(document__in=documents).values_list("document", flat=True))
        errors = []
        for line, document in zip(lines, documents, strict=True):
            try:
                validate_document(document)
            except ValidationError:
                text = gettext_lazy("'%(line)s' is neither a CNPJ nor a CPF: its check digits do not fit.")
                errors.append(ValidationError(text, params={"line": line[:40]}))
            if document in taken or documents.count(document) > 1:
                errors.append(
                    ValidationError(gettext_lazy("'%(line)s' is registered already."), params={"line": line[:40]})
                )
        if errors:
            raise ValidationError(errors)
        return documents


def invite(request: HttpRequest, account: Account, email: str) -> None:
    """Invite the first person as owner, unless `email` is empty. The next page says so, or shows `fresh_link`."""
    if not email:
        return
    user = request.user
    assert isinstance(user, User)  # noqa: S101  # nosec B101  # the pages require log-in
    try:
        issued = invitations.invite(
            account=account, email=email, role=Role.OWNER, by=user, language=page_language(), at=clock.now()
        )
    except TeamRefusal as error:
        messages.error(request, str(error))
        return
    if issued.invitation.is_mailed:
        messages.success(request, _("The invitation is on its way to %(email)s.") % {"email": email})
    else:
        request.session[FRESH_LINK] = credentials.encrypt(request.build_absolute_uri(issued.path))


def fresh_link(request: HttpRequest) -> str | None:
    """The link of the invitation that the request before this one made, if it was not sent by e-mail."""
    ciphertext = request.session.pop(FRESH_LINK, None)
    try:
        return credentials.decrypt(ciphertext) if ciphertext else None
    except InvalidToken:  # its encryption key was removed meanwhile
        messages.error(request, _("The link cannot be shown any more. Send the invitation again from the page 'Team'."))
        return None

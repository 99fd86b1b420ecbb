"""The pages of connected shops: the list of those that are, and the page of one with what its platform posted lately.

Whose pages they are, say further bases: an account's or a seller's view, and what is declared here.
"""

from collections.abc import Callable
from itertools import chain
from typing import Any, Protocol, TypeVar
from urllib.parse import urlsplit
from uuid import UUID

from django import forms
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from common import clock
from common.errors import DomainError
from common.fields import parse_id
from common.shops.drafts import Outcome
from common.shops.models import LONGEST_METHOD, LONGEST_NAME, LONGEST_SECRET, PLATFORMS
from common.shops.platforms import Platform
from common.shops.receptions import MOST_RECEPTIONS
from common.webhooks.address_guard import LOOPBACK_HOSTS
from panel.base import LoggedInView, origin
from panel.filters import PER_PAGE

_OFF = {"autocomplete": "off"}
# Session key of the id of a connection whose secret the next page shows.
_FRESH = "fresh_connection"
_LONGEST_REVISION = 9  # digits


def seen(text: str) -> int:
    """The revision of an order that a page has shown; of another text, one that no order has."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _LONGEST_REVISION else -1


def chosen(request: HttpRequest) -> dict[UUID, int]:
    """The orders that were chosen on a list, each with the revision that was shown."""
    texts = (text.partition(":") for text in request.POST.getlist("order")[:PER_PAGE])
    return {key: seen(revision) for name, _colon, revision in texts if (key := parse_id(name))}


# Of a correction that is refused because the shop, or somebody else, has changed the order since it was shown.
CHANGED = gettext_lazy(
    "This order has changed meanwhile, and nothing was saved. What you typed is still there, and below the fields "
    "stands what has changed. Save it again when it is right."
)
_ITEMS_GONE = gettext_lazy(
    "What you typed about the items is not there any more: the order now has more of them than a form shows."
)


class InParts(Protocol):
    """The form of an order."""

    @property
    def parts(self) -> list[forms.Form]: ...


Form = TypeVar("Form", bound=InParts)


def keep_shown(form: forms.Form) -> None:
    """Have the form send what it was shown with, so that what a person typed is told from that."""
    for field in form.fields.values():
        field.show_hidden_initial = True


def renewed(request: HttpRequest, typed: InParts, form: Callable[..., Form]) -> Form:
    """The `form` of an order that has changed since it was shown, with notes at the fields that differ.

    What a person `typed` stays. The other fields are as in the form of the order as it is now.
    """
    before = {part.prefix: part for part in typed.parts}  # at least those of the order as it is now
    data, notes = dict[str, Any](), dict[str, str]()
    for part in form().parts:
        part_before = before.pop(part.prefix)
        for bound in part:
            bound_before, now = part_before[bound.name], bound.value()
            is_typed, value = _is_typed(bound_before), bound_before.value()
            data[bound.html_initial_name] = now
            data[bound.html_name] = value if is_typed else now
            if (is_typed or _shown_with(bound_before) is not None) and not _is_same(bound.field, now, value):
                text = _("In the order now: %(value)s") if is_typed else _("Changed meanwhile. Before: %(value)s")
                notes[bound.html_name] = text % {"value": _as_read(bound.field, now if is_typed else value)}
    messages.warning(request, CHANGED)
    if any(_is_typed(bound) for part in before.values() for bound in part):
        messages.warning(request, _ITEMS_GONE)
    made = form(data)
    for bound in chain.from_iterable(made.parts):
        if note := notes.get(bound.html_name):
            bound.help_text = format_html('<b class="warn-text">{}</b>', note)
    return made


def _shown_with(bound: forms.BoundField) -> Any:
    """What the field was shown with, as `keep_shown` has it sent; None if it was not shown."""
    return bound.form.data.get(bound.html_initial_name)


def _is_typed(bound: forms.BoundField) -> bool:
    return not _is_same(bound.field, _shown_with(bound), bound.value())


def _is_same(field: forms.Field, one: Any, other: Any) -> bool:
    """Whether two texts of a field say the same."""
    # Browsers send other ends of lines than shops.
    first, second = ("\n".join(str("" if text is None else text).splitlines()) for text in (one, other))
    try:
        return first == second or not field.has_changed(field.to_python(first), second)
    except ValidationError:
        return False


def _as_read(field: forms.Field, value: Any) -> str:
    """A value as people read it."""
    return str(dict(getattr(field, "choices", ())).get(value, value) or "–")  # noqa: RUF001  # as in the lists


class ShopForm(forms.Form):
    """What people choose of a connection in either area."""

    name = forms.CharField(
        label=gettext_lazy("Name of the shop"), max_length=LONGEST_NAME, widget=forms.TextInput(_OFF)
    )
    shipping_method = forms.CharField(
        label=gettext_lazy("Only orders with this in their shipping method"),
        max_length=LONGEST_METHOD,
        required=False,
        help_text=gettext_lazy(
            "Empty: all. For a shop that also sends by post, a part of the name, such as: same day."
        ),
        widget=forms.TextInput(_OFF),
    )


class SecretForm(forms.Form):
    """The secret of a platform that has made it itself, as it does once its webhook is made."""

    secret = forms.CharField(
        label=gettext_lazy("Secret of the platform"),
        max_length=LONGEST_SECRET,
        required=False,
        widget=forms.TextInput(_OFF),
    )


class NewShopForm(forms.Form):
    """What a new connection has besides."""

    platform = forms.ChoiceField(
        label=gettext_lazy("Platform"), choices=[(each.value, PLATFORMS[each]) for each in Platform]
    )


class ShopView(LoggedInView):
    """Base of the pages. `url_prefix`: of the names of the area's pages."""

    url_prefix: str
    too_many: type[DomainError]
    invalid_secret: type[DomainError]
    not_found: type[DomainError]
    url: Callable[..., str]
    new_form: Callable[..., Any]
    settings_form: Callable[..., Any]  # of a connection, with what was sent
    connect: Callable[..., tuple[Any, str]]
    change: Callable[[Any, Any], None]
    change_secret: Callable[[Any, str], None]
    try_out: Callable[[Any], Outcome]
    remove: Callable[[Any], None]

    @property
    def is_suspended(self) -> bool:
        """Whether the account or the seller is."""
        raise NotImplementedError

    @property
    def rows(self) -> Any:
        """The connections."""
        raise NotImplementedError

    def refusal(self, error: DomainError) -> str:
        """In the reader's language."""
        raise NotImplementedError

    def found(self, connection: str) -> Any:
        # Django does not refuse the NUL that PostgreSQL does.
        return get_object_or_404(self.rows if connection.isalnum() else self.rows.none(), pk=connection)

    def page_of(self, name: str, *arguments: Any) -> HttpResponse:
        return redirect(self.url(f"{self.url_prefix}{name}", *arguments))

    def show_secret(self, connection: Any) -> HttpResponse:
        """The page of the connection, once with its secret."""
        self.request.session[_FRESH] = connection.pk
        return self.page_of("connection", connection.pk)


class Connections(ShopView):
    def get(self, _request: HttpRequest) -> HttpResponse:
        return self.show(self.new_form())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.new_form(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        platform = Platform(form.cleaned_data["platform"])
        try:
            made, _secret = self.connect(platform=platform, settings=form.settings, at=clock.now())
        except self.too_many as error:
            form.add_error(None, self.refusal(error))
            return self.show(form, status=422)
        return self.show_secret(made)

    def show(self, form: Any, *, status: int = 200) -> HttpResponse:
        return self.page(
            "panel/connections.html", rows=list(self.rows), form=form, is_suspended=self.is_suspended, status=status
        )


class ConnectionPage(ShopView):
    """Setting the platform up, what it has posted, and what is chosen."""

    def get(self, _request: HttpRequest, connection: str) -> HttpResponse:
        found = self.found(connection)
        return self.show(found, self.settings_form(found))

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found = self.found(connection)
        form = self.settings_form(found, request.POST)
        if not form.is_valid():
            return self.show(found, form, status=422)
        self.change(found, form.settings)
        messages.success(request, _("The settings are saved."))
        return self.page_of("connection", found.pk)

    def show(self, connection: Any, form: Any, *, status: int = 200) -> HttpResponse:
        fresh = self.request.session.get(_FRESH) == connection.pk
        if fresh:
            del self.request.session[_FRESH]
        is_made_here = connection.platform == Platform.WOOCOMMERCE
        return self.page(
            "panel/connection.html",
            status=status,
            connection=connection,
            address=origin(self.request) + connection.path,
            is_local=urlsplit(origin(self.request)).hostname in LOOPBACK_HOSTS,
            secret=connection.secret if fresh and is_made_here else "",
            receptions=connection.receptions.all()[:MOST_RECEPTIONS],
            form=form,
            secret_form=None if is_made_here else SecretForm(),
        )


class Secret(ShopView):
    """Another secret: made here and shown once, or the platform's new one."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found, form = self.found(connection), SecretForm(request.POST)
        is_made_here = found.platform == Platform.WOOCOMMERCE
        secret = form.cleaned_data["secret"] if form.is_valid() and not is_made_here else ""
        if not is_made_here and not secret:
            messages.error(request, _("Paste the secret of the platform."))
            return self.page_of("connection", found.pk)
        try:
            self.change_secret(found, secret)
        except self.not_found as error:  # removed meanwhile
            raise Http404 from error
        except self.invalid_secret as error:
            messages.error(request, self.refusal(error))
            return self.page_of("connection", found.pk)
        messages.success(request, _("The secret is changed. Orders signed with the one before are refused."))
        return self.show_secret(found) if is_made_here else self.page_of("connection", found.pk)


class TryOut(ShopView):
    """Send an invented order through the connection."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found = self.found(connection)
        outcome = self.try_out(found)
        if outcome.draft is None:
            messages.warning(request, _("The test order was ignored: %(reason)s.") % {"reason": outcome.reason})
            return self.page_of("connection", found.pk)
        messages.success(request, _("An invented order came through the connection. This is what becomes of it."))
        return self.page_of("draft", outcome.draft.pk)


class Remove(ShopView):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found = self.found(connection)
        self.remove(found)
        messages.success(request, _("%(name)s is not connected any more.") % {"name": found.name})
        return self.page_of("connections")

"""Base classes of pages: each decides who may open the page."""

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin, PermissionRequiredMixin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.generic import View

from access import teams
from access.rights import accounts_of, is_account_staff, sellers_of
from common.actors import actor, member
from common.brazil.zones import Place
from common.observability import log_context
from common.pages import page_updates
from common.postgresql import replica
from common.webhooks.models import Endpoint
from common.webhooks.outbox import Outbox, outbox_of
from delivery.errors import AccountSuspended
from delivery.models import AccountScope, Delivery, Environment, Integrator, WebhookEndpoint
from delivery.models.delivery import DeliveryQuerySet
from delivery.page_updates import account as topic_of_account
from delivery.refusals import refusal
from delivery.webhooks.outbox import OUTBOX
from integration.errors import AccountSuspended as SellerSuspended
from integration.invoices.models import Invoice, InvoiceQuerySet
from integration.models import Order, Seller
from integration.models.order import OrderQuerySet

_log = logging.getLogger(__name__)


def page_language() -> str:
    """The code of the active language, in which the person is written to."""
    return get_language() or settings.LANGUAGE_CODE


def user_of(request: HttpRequest) -> User:
    """Who asks for a page that requires log-in."""
    user = request.user
    assert isinstance(user, User)  # noqa: S101  # nosec B101  # the page requires log-in
    return user


def origin(request: HttpRequest) -> str:
    """The address that this service is called at, without a slash at its end."""
    return request.build_absolute_uri("/").rstrip("/")


class LoggedInView(LoginRequiredMixin, View):
    """A page that requires log-in. An htmx request without a session redirects its whole page to the log-in."""

    # Whether the page replaces parts of itself when something changes, see templates/panel/live.html.
    is_live = False
    # At which it was rendered, if it is live and has not asked for itself. See `page_updates.version`.
    version = ""

    @property
    def topics(self) -> list[str]:
        """Those of the page updates that a live page follows."""
        raise NotImplementedError

    def note_version(self) -> None:
        """To be called before the page reads anything, so that no change is lost between the page and its stream."""
        if self.is_live and self.request.method == "GET" and "Rota-Automatic" not in self.request.headers:
            self.version = page_updates.version(*self.topics)

    def frame(self) -> dict[str, Any]:
        """What the frame of the page needs."""
        return {}

    def page(
        self, template: str, /, status: int = 200, *, in_zone_of: Place | None = None, **context: Any
    ) -> HttpResponse:
        """The page, with moments by the clocks of a place; without one by those of the installation."""
        version = "" if replica.is_reading() else self.version
        with timezone.override(in_zone_of.zone if in_zone_of else None):
            return render(self.request, template, {"page_version": version, **self.frame(), **context}, status=status)

    def _refused(self) -> HttpResponseBase:
        refused: HttpResponseBase = self.handle_no_permission()
        return refused

    def handle_no_permission(self) -> Any:
        refused = super().handle_no_permission()
        if not self.request.user.is_authenticated and self.request.headers.get("HX-Request"):
            page = _path_of(self.request.headers.get("HX-Current-URL", "")) or reverse("panel:home")
            address = f"{reverse('account_login')}?{urlencode({'next': page})}"
            return HttpResponse(status=401, headers={"HX-Redirect": address})
        return refused


def _path_of(url: str) -> str:
    """The path of a URL, or an empty string if the URL is invalid."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


class AccountView(LoggedInView):
    """A page of one account in one environment. Answers 404 to users without access, as for an unknown account."""

    account: Integrator
    environment: Environment

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return self._refused()
        account = accounts_of(request.user).filter(pk=kwargs.pop("account")).first()
        if account is None:
            _log.warning("%s requested %s without access to the account", actor(request), request.path)
            raise Http404
        log_context.note("account", account.pk)
        self.account, self.environment = account, Environment(kwargs.pop("environment"))
        if not self.may_open():
            raise PermissionDenied
        self.note_version()
        try:
            return super().dispatch(request, *args, **kwargs)
        except AccountSuspended as error:
            messages.error(request, refusal(error))
            return redirect(self.url("overview"))

    def may_open(self) -> bool:
        """Whether one who sees the account may open this page."""
        return True

    @cached_property
    def may_request(self) -> bool:
        """Whether the user requests and cancels deliveries of the account."""
        return teams.may_request(user_of(self.request), self.account)

    @cached_property
    def endpoint(self) -> WebhookEndpoint:
        """The first endpoint of the account's webhooks in this environment."""
        return self.endpoints[0]

    @cached_property
    def endpoints(self) -> list[WebhookEndpoint]:
        """All endpoints of the account's webhooks in this environment, the first one first."""
        return list(WebhookEndpoint.objects.of(self.account.pk, self.environment))

    @property
    def topics(self) -> list[str]:
        of_endpoints = [OUTBOX.topic_of(endpoint.pk) for endpoint in self.endpoints]
        return [topic_of_account(self.account.pk, self.environment), *of_endpoints]

    @property
    def deliveries(self) -> DeliveryQuerySet:
        return Delivery.objects.within(self.account, self.environment)

    def url(self, name: str, *arguments: Any) -> str:
        """The address of another page of this account."""
        return reverse(f"panel:{name}", args=[self.account.pk, self.environment, *arguments])

    def frame(self) -> dict[str, Any]:
        return {
            "account": self.account,
            "environment": self.environment,
            "environments": Environment.choices,
            "may_request": self.may_request,
        }


class RequestingView(AccountView):
    """A page on which somebody acts for the shop: requests and cancels deliveries, sees to pickup points."""

    def may_open(self) -> bool:
        return self.may_request

    @cached_property
    def is_staff(self) -> bool:
        return is_account_staff(user_of(self.request), self.account)

    @property
    def actor(self) -> str:
        """Who acts, as histories record it: a member acts for the account, staff for whoever runs the service."""
        return actor(self.request) if self.is_staff else member(self.request)

    @property
    def scope(self) -> AccountScope:
        return AccountScope(self.account, self.environment)


class EndpointView(LoggedInView):
    """A page of one endpoint, by its number in the URL; without one, the first. Answers 404 for an unknown number.

    Whose it is, says a class of `endpoint_owners`, which `panel.urls` adds as a further base.
    """

    number: int
    environment: Environment
    # Of the class that says whose page it is.
    endpoint_model: type[Endpoint]
    owner: Any
    owner_in_logs: str
    endpoints: list[Any]
    url_prefix: str  # of the names of its pages
    may_set_up: bool
    filter_class: Any
    filter_options: dict[str, Any]
    prefetched: list[str]
    subject_column: str
    subject_code: Callable[[Any], Any]
    steps: Callable[[Any, Any], dict[str, Any]]
    own_forms: Callable[[], dict[str, Any]]
    file_name: Callable[[str], str]
    place_of: Callable[[Any], Place | None]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.number = kwargs.pop("number", 1)
        try:
            return super().dispatch(request, *args, **kwargs)
        except self.endpoint_model.DoesNotExist as error:  # of an unknown number, or removed meanwhile
            raise Http404 from error

    @cached_property
    def endpoint(self) -> Any:
        found = next((each for each in self.endpoints if each.number == self.number), None)
        if found is None:
            raise self.endpoint_model.DoesNotExist
        return found

    @cached_property
    def outbox(self) -> Outbox:
        return outbox_of(self.endpoint_model)

    @property
    def fresh_key(self) -> str:
        """Under which the session remembers that this endpoint's secret is to be shown once."""
        return f"{self.endpoint_model._meta.label} {self.endpoint.pk}"

    def endpoint_url(self, name: str, *arguments: Any) -> str:
        """The address of another page of this endpoint."""
        return reverse(f"panel:{self.url_prefix}{name}", args=[*self.endpoint.url_arguments, *arguments])

    def frame(self) -> dict[str, Any]:
        return {
            **super().frame(),
            "owner": self.owner,
            "may_set_up": self.may_set_up,
            "endpoint": self.endpoint,
            "endpoints": self.endpoints,
            "can_send": bool(self.endpoint.url) and self.endpoint.enabled,
        }


class SellerView(LoggedInView):
    """A page of one seller in one environment. Answers 404 to users without access, as for an unknown seller."""

    seller: Seller
    environment: Environment

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return self._refused()
        seller = sellers_of(request.user).filter(pk=kwargs.pop("seller")).first()
        if seller is None:
            _log.warning("%s requested %s without access to the seller", actor(request), request.path)
            raise Http404
        log_context.note("account", seller.reference)
        self.seller, self.environment = seller, Environment(kwargs.pop("environment"))
        self.note_version()
        try:
            return super().dispatch(request, *args, **kwargs)
        except SellerSuspended:
            messages.error(request, _("The seller is suspended: it gets no keys, and its invoices are not taken."))
            return redirect(self.url("seller"))

    def frame(self) -> dict[str, Any]:
        return {"seller": self.seller, "environment": self.environment, "environments": Environment.choices}

    def url(self, name: str, *arguments: Any) -> str:
        """The address of another page of this seller."""
        return reverse(f"panel:{name}", args=[self.seller.pk, self.environment, *arguments])

    def file_name(self, name: str) -> str:
        """The name of a download, which says if its rows are of the sandbox."""
        return f"sandbox-{name}" if self.environment == Environment.SANDBOX else name

    @property
    def orders(self) -> OrderQuerySet:
        return Order.objects.of(self.seller, self.environment)

    @property
    def scope(self) -> dict[str, Any]:
        """The condition of all rows that its lists show."""
        return {"seller": self.seller, "environment": self.environment}

    @property
    def list_options(self) -> dict[str, Any]:
        """What the filters of its lists need, whose moments are typed in the zone of the page."""
        return {"scope": self.scope, "zone": self.seller.zone}

    @property
    def invoices(self) -> InvoiceQuerySet:
        return Invoice.objects.of(self.seller, self.environment)


class DispatcherView(LoggedInView, PermissionRequiredMixin):
    """A page of dispatchers."""

    permission_required = "delivery.dispatch_delivery"

    def handle_no_permission(self) -> Any:
        if self.request.user.is_authenticated:
            _log.warning("%s requested %s, which is for dispatchers", actor(self.request), self.request.path)
        return super().handle_no_permission()

"""Who sees what. Every page of an account, a seller or the board goes through one of these."""

import logging
from collections.abc import Callable
from typing import Any

from allauth.mfa.adapter import get_adapter
from django.conf import settings
from django.contrib.auth.mixins import LoginRequiredMixin, PermissionRequiredMixin
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import cached_property
from django.views.generic import View

from delivery.models import Delivery, Environment, Integrator, WebhookEndpoint
from delivery.models.delivery import DeliveryQuerySet
from integration.models import Seller

_log = logging.getLogger(__name__)
_HAS_SECOND_FACTOR = "has_second_factor"


def actor(request: HttpRequest) -> str:
    """Who acts, as it is written into histories."""
    return f"user {request.user.get_username()}"


def accounts_of(user: User | AnonymousUser) -> QuerySet[Integrator]:
    """All accounts for account staff; for everybody else those they are members of."""
    accounts = Integrator.objects.all()
    return accounts if user.has_perm("delivery.change_integrator") else accounts.filter(members=user.pk)


def sellers_of(user: User | AnonymousUser) -> QuerySet[Seller]:
    """All sellers for account staff; for everybody else those they are members of."""
    sellers = Seller.objects.all()
    return sellers if user.has_perm("integration.change_seller") else sellers.filter(members=user.pk)


class AccountView(LoginRequiredMixin, View):
    """A page of one account in one environment. Whoever may not see the account learns nothing of it, not even that."""

    account: Integrator
    environment: Environment
    template: str

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return self.handle_no_permission()
        account = accounts_of(request.user).filter(pk=kwargs.pop("account")).first()
        if account is None:
            _log.warning("%s asked for %s, which is not theirs", actor(request), request.path)
            raise Http404
        self.account, self.environment = account, Environment(kwargs.pop("environment"))
        return super().dispatch(request, *args, **kwargs)

    @cached_property
    def endpoint(self) -> WebhookEndpoint:
        """Where the account's webhooks of this environment go."""
        return WebhookEndpoint.objects.get(integrator=self.account, environment=self.environment)

    @property
    def deliveries(self) -> DeliveryQuerySet:
        return Delivery.objects.within(self.account, self.environment)

    def url(self, name: str, *arguments: Any) -> str:
        """The address of another page of this account."""
        return reverse(f"panel:{name}", args=[self.account.pk, self.environment, *arguments])

    def page(self, template: str, /, status: int = 200, **context: Any) -> HttpResponse:
        shown = {
            "account": self.account,
            "environment": self.environment,
            "environments": Environment.choices,
            **context,
        }
        return render(self.request, template, shown, status=status)


class SellerView(LoginRequiredMixin, View):
    """A page of one seller."""

    seller: Seller

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not request.user.is_authenticated:
            return self.handle_no_permission()
        seller = sellers_of(request.user).filter(pk=kwargs.pop("seller")).first()
        if seller is None:
            _log.warning("%s asked for %s, which is not theirs", actor(request), request.path)
            raise Http404
        self.seller = seller
        return super().dispatch(request, *args, **kwargs)


class DispatcherView(LoginRequiredMixin, PermissionRequiredMixin, View):
    """A page of dispatchers."""

    permission_required = "delivery.dispatch_delivery"

    def handle_no_permission(self) -> Any:
        if self.request.user.is_authenticated:
            _log.warning("%s asked for %s, which is for dispatchers", actor(self.request), self.request.path)
        return super().handle_no_permission()


class TwoFactorMiddleware:
    """Where a second factor is required of staff, lead those without one to setting it up, whatever they ask for."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if settings.REQUIRE_TWO_FACTOR and _is_guarded(request.path) and _lacks_second_factor(request):
            return redirect("mfa_activate_totp")
        return self.get_response(request)


def _is_guarded(path: str) -> bool:
    return path.startswith(("/panel/", "/admin/"))


def _lacks_second_factor(request: HttpRequest) -> bool:
    user = request.user
    if not user.is_authenticated or not user.is_staff or request.session.get(_HAS_SECOND_FACTOR):
        return False
    if get_adapter().is_mfa_enabled(user):
        request.session[_HAS_SECOND_FACTOR] = True
        return False
    return True

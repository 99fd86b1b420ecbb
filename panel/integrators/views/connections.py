"""Connecting a shop: the list of those that are, and the page of one with what its platform has posted lately."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from common import clock
from common.shops.platforms import Platform
from common.shops.receptions import MOST_RECEPTIONS
from delivery.connections import actions, models
from delivery.errors import InvalidSecret, TooManyConnections
from delivery.refusals import refusal
from panel.base import RequestingView, origin
from panel.integrators.shop_forms import ConnectForm, SecretForm, SettingsForm, settings_of

# Session key of the id of a connection whose secret the next page shows.
_FRESH = "fresh_connection"


class ConnectionView(RequestingView):
    """Base of the pages of connected shops."""

    @property
    def rows(self) -> Any:
        found = models.Connection.objects.filter(integrator=self.account, environment=self.environment)
        return found.filter(removed_at=None).select_related("integrator", "pickup").order_by("created_at")

    def found(self, connection: str) -> models.Connection:
        # Django does not refuse the NUL that PostgreSQL does.
        rows = self.rows if connection.isalnum() else self.rows.none()
        found: models.Connection = get_object_or_404(rows, pk=connection)
        return found

    @property
    def points(self) -> Any:
        return self.account.pickup_points.active()

    def show_secret(self, connection: models.Connection) -> HttpResponse:
        """The page of the connection, once with its secret."""
        self.request.session[_FRESH] = connection.pk
        return redirect(self.url("connection", connection.pk))


class Connections(ConnectionView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(ConnectForm(points=self.points))

    def post(self, request: HttpRequest) -> HttpResponse:
        form = ConnectForm(request.POST, points=self.points)
        if not form.is_valid():
            return self.show(form, status=422)
        try:
            made, _secret = actions.connect(
                integrator=self.account,
                environment=self.environment,
                platform=Platform(form.cleaned_data["platform"]),
                settings=form.settings,
                secret=form.cleaned_data["secret"],
                by=self.actor,
                at=clock.now(),
            )
        except TooManyConnections as error:
            form.add_error(None, refusal(error))
            return self.show(form, status=422)
        except InvalidSecret as error:
            form.add_error("secret", refusal(error))
            return self.show(form, status=422)
        return self.show_secret(made)

    def show(self, form: ConnectForm, *, status: int = 200) -> HttpResponse:
        return self.page("panel/connections.html", rows=list(self.rows), form=form, status=status)


class ConnectionPage(ConnectionView):
    """Setting the platform up, what it has posted, and what is chosen."""

    def get(self, request: HttpRequest, connection: str) -> HttpResponse:
        found = self.found(connection)
        return self.show(found, SettingsForm(points=self.points, initial=settings_of(found)))

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found, form = self.found(connection), SettingsForm(request.POST, points=self.points)
        if not form.is_valid():
            return self.show(found, form, status=422)
        actions.change(connection=found, settings=form.settings, by=self.actor, at=clock.now())
        messages.success(request, _("The settings are saved."))
        return redirect(self.url("connection", found.pk))

    def show(self, connection: models.Connection, form: SettingsForm, *, status: int = 200) -> HttpResponse:
        fresh = self.request.session.get(_FRESH) == connection.pk
        if fresh:
            del self.request.session[_FRESH]
        return self.page(
            "panel/connection.html",
            status=status,
            connection=connection,
            address=origin(self.request) + connection.path,
            secret=connection.secret if fresh else "",
            is_made_here=connection.platform == Platform.WOOCOMMERCE,
            receptions=connection.receptions.all()[:MOST_RECEPTIONS],
            form=form,
            secret_form=SecretForm(),
        )


class Secret(ConnectionView):
    """Another secret: made here and shown once, or the platform's new one."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found, form = self.found(connection), SecretForm(request.POST)
        is_made_here = found.platform == Platform.WOOCOMMERCE
        secret = form.cleaned_data["secret"] if form.is_valid() and not is_made_here else ""
        if not is_made_here and not secret:
            messages.error(request, _("Paste the secret of the platform."))
            return redirect(self.url("connection", found.pk))
        try:
            actions.change_secret(connection=found, secret=secret, by=self.actor, at=clock.now())
        except InvalidSecret as error:
            messages.error(request, refusal(error))
            return redirect(self.url("connection", found.pk))
        messages.success(request, _("The secret is changed. Orders signed with the one before are refused."))
        return self.show_secret(found) if is_made_here else redirect(self.url("connection", found.pk))


class TryOut(ConnectionView):
    """Send an invented order through the connection."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found = self.found(connection)
        outcome = actions.try_out(connection=found, at=clock.now())
        if outcome.draft is None:
            messages.warning(request, _("The test order was ignored: %(reason)s.") % {"reason": outcome.reason})
            return redirect(self.url("connection", found.pk))
        messages.success(request, _("An invented order came through the connection. This is what becomes of it."))
        return redirect(self.url("draft", outcome.draft.pk))


class Remove(ConnectionView):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, connection: str) -> HttpResponse:
        found = self.found(connection)
        actions.remove(connection=found, by=self.actor, at=clock.now())
        messages.success(request, _("%(name)s is not connected any more.") % {"name": found.name})
        return redirect(self.url("connections"))

"""The page of a webhook endpoint: URL, filter, test events, signing secret, state of the breaker, pause and resume."""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from common.webhooks import endpoints
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.errors import (
    EndpointCannotSend,
    EndpointStays,
    InvalidAuthentication,
    SecretRotatedLately,
    TooManyEndpoints,
)
from common.webhooks.models import FAILING, MOST_ENDPOINTS, EndpointAction, Event, EventState, OffBecause
from common.webhooks.outbox import outbox_of
from delivery.models import parse_id
from delivery.refusals import refusal
from integration.actions import webhooks
from panel.base import EndpointView
from panel.forms import AuthenticationForm, NewEndpointForm, StatusesForm, UrlForm, checked_url

_FRESH = "fresh_secret"
_LONGEST_MOMENT = 40


class SetUpView(EndpointView):
    """Base class of the views that change an endpoint or show its secret. 403 for those who may not."""

    def may_open(self) -> bool:
        return self.may_set_up


class WebhookView(EndpointView):
    """Base class of the views that show the page."""

    def show(
        self, form: UrlForm | None = None, filter_form: StatusesForm | None = None, *, status: int = 200, **forms: Any
    ) -> HttpResponse:
        fresh = self.request.session.pop(_FRESH, None) == self.fresh_key and self.may_set_up
        test = self._test_event(self.request.GET.get("test", ""))
        attempt = test.attempts.last() if test else None
        models: Any = self.endpoint_model._default_manager
        failing = set(models.of(self.owner.pk, self.environment).failing().values_list("pk", flat=True))
        return self.page(
            "panel/webhook.html",
            endpoint_states=[(each, each.pk in failing) for each in self.endpoints],
            form=form or UrlForm({"url": self.endpoint.url}),
            filter_form=filter_form or self.filter_form(),
            fresh_secret=self.endpoint.secret if fresh else None,
            test=test,
            attempt=attempt,
            can_add=self.may_set_up and len(self.endpoints) < MOST_ENDPOINTS,
            status=status,
            **_state(self.endpoint),
            **{**self.own_forms(), **forms},
        )

    def filter_form(self, sent: QueryDict | None = None) -> StatusesForm:
        statuses = self.endpoint.all_statuses()
        chosen = {"statuses": self.endpoint.statuses or list(statuses)}
        return StatusesForm(chosen if sent is None else sent, statuses=statuses)

    def send_test(self) -> HttpResponse:
        """Send a test event and redirect to the page with its result."""
        try:
            event = endpoints.send_test(endpoint=self.endpoint, by=actor(self.request), at=clock.now())
        except EndpointCannotSend as error:
            messages.error(self.request, refusal(error))
            return redirect(self.endpoint_url("webhook"))
        return redirect(f"{self.endpoint_url('webhook')}?test={event.pk}")

    def _test_event(self, key: str) -> Event | None:
        event = parse_id(key)
        return self.endpoint.events.of_tests().filter(pk=event).first() if event else None


class Webhook(WebhookView):
    is_live = True

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show()

    def post(self, request: HttpRequest) -> HttpResponse:
        if not self.may_set_up:
            raise PermissionDenied
        form = UrlForm(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        url = form.cleaned_data["url"]
        try:
            self.endpoint = endpoints.set_url(endpoint=self.endpoint, url=url, by=actor(request), at=clock.now())
        except InvalidWebhookUrl as error:
            form.add_error("url", refusal(error))
            return self.show(form, status=422)
        if not url:
            messages.success(request, _("The URL was removed. Events are recorded but not sent."))
            return redirect(self.endpoint_url("webhook"))
        if not self.endpoint.enabled:
            messages.warning(request, _("The URL was saved. Nothing is sent to it until you resume webhooks."))
            return redirect(self.endpoint_url("webhook"))
        messages.success(request, _("The URL was saved. A test event is being sent to it."))
        return self.send_test()


class FormView(SetUpView, WebhookView):
    """Base class of a form of the page. The page shows what is refused, and loads itself again from this address."""

    def get(self, request: HttpRequest) -> HttpResponse:  # of every view
        return redirect(self.endpoint_url("webhook"))


class Filter(FormView):
    """Chooses the statuses that are sent."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.filter_form(request.POST)
        if not form.is_valid():
            return self.show(filter_form=form, status=422)
        endpoints.set_filter(
            endpoint=self.endpoint, statuses=form.cleaned_data["statuses"], by=actor(request), at=clock.now()
        )
        messages.success(request, _("The filter was saved. It applies to changes from now on."))
        return redirect(self.endpoint_url("webhook"))


class Add(SetUpView):
    """Adds a further endpoint. Its page then shows the signing secret, once."""

    def get(self, request: HttpRequest) -> HttpResponse:
        statuses = self.endpoint.all_statuses()
        form = NewEndpointForm(initial={"statuses": list(statuses)}, statuses=statuses)
        return self.page("panel/webhook_add.html", form=form, most=MOST_ENDPOINTS)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewEndpointForm(request.POST, statuses=self.endpoint.all_statuses())
        by, at = actor(request), clock.now()
        checked = checked_url(form, of=self.endpoint) if form.is_valid() else None
        if checked is None:
            return self._refused_form(form)
        try:
            added = endpoints.add(
                beside=self.endpoints[0],
                url=checked,
                statuses=form.cleaned_data["statuses"],
                by=by,
                at=at,
            )
        except (TooManyEndpoints, InvalidWebhookUrl) as error:
            form.add_error("url" if isinstance(error, InvalidWebhookUrl) else None, refusal(error))
            return self._refused_form(form)
        endpoints.show_secret(endpoint=added, by=by, at=at)
        messages.success(request, _("The endpoint was added. It is sent every change from now on that its filter has."))
        self.endpoint = added
        request.session[_FRESH] = self.fresh_key
        return redirect(self.endpoint_url("webhook"))

    def _refused_form(self, form: NewEndpointForm) -> HttpResponse:
        return self.page("panel/webhook_add.html", form=form, most=MOST_ENDPOINTS, status=422)


class Remove(SetUpView):
    """Removes a further endpoint."""

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            endpoints.remove(endpoint=self.endpoint, by=actor(request), at=clock.now())
        except EndpointStays as error:
            messages.error(request, refusal(error))
        else:
            messages.success(request, _("The endpoint was removed. Nothing more is sent to it."))
        self.endpoint = self.endpoints[0]
        return redirect(self.endpoint_url("webhook"))


class Test(WebhookView):
    def post(self, request: HttpRequest) -> HttpResponse:
        return self.send_test()


class TestResult(EndpointView):
    """A fragment with the result of a test event; the browser loads it again until there is one."""

    def get(self, request: HttpRequest, event: UUID) -> HttpResponse:
        found = get_object_or_404(self.endpoint.events.of_tests(), pk=event)
        attempt = found.attempts.last()
        # Pages with the endpoint's state ask for it too, because a test changes it.
        shown = {"with_state": "state" in request.GET, "is_update": True, **_state(self.endpoint)}
        return self.page("panel/test_result.html", test=found, attempt=attempt, **shown)


def _state(endpoint: Any) -> dict[str, Any]:
    """What `panel/webhook_state.html` shows, no older than an attempt that was read before."""
    endpoint.refresh_from_db()
    is_off_by_hand = endpoint.off_because == OffBecause.STAFF
    switched_off = (
        endpoints.audit_entries(endpoint, EndpointAction.OFF)
        .filter(subject=endpoints.audit_subject(endpoint))
        .order_by("-at", "-id")
    )
    attempts: Any = outbox_of(type(endpoint)).attempts._default_manager
    failure = attempts.last_failure(endpoint) if endpoint.url and not is_off_by_hand else None
    return {
        "endpoint": endpoint,
        "waiting": endpoint.queue_items.count(),
        "failing": endpoint.events.in_state(FAILING).count(),
        "dead": endpoint.events.in_state(EventState.DEAD).count(),
        "failure": failure,
        "switched_off_by": (switched_off.values_list("by", flat=True).first() or "") if is_off_by_hand else "",
        "now": clock.now(),
    }


class Switch(SetUpView):
    """Pauses and resumes webhooks."""

    def post(self, request: HttpRequest) -> HttpResponse:
        enabled = request.POST.get("enabled") == "1"
        endpoints.set_enabled(endpoint=self.endpoint, enabled=enabled, by=actor(request), at=clock.now())
        if enabled:
            messages.success(request, _("Webhooks are on. Events kept while they were off are being sent."))
        else:
            messages.success(request, _("Webhooks are paused. Events are kept until you resume."))
        return redirect(self.endpoint_url("webhook"))


class Authentication(FormView):
    """Sets what webhooks carry beside their signature; for sellers, whose webhooks carry no token of ours."""

    def post(self, request: HttpRequest) -> HttpResponse:
        form = AuthenticationForm(request.POST)
        if not form.is_valid():
            return self.show(authentication_form=form, status=422)
        try:
            webhooks.set_authentication(
                endpoint=self.endpoint, authentication=form.authentication, by=actor(request), at=clock.now()
            )
        except InvalidAuthentication as error:
            for field in error.fields or (None,):
                form.add_error(field, refusal(error))
            return self.show(authentication_form=form, status=422)
        messages.success(request, _("The authentication was saved. Webhooks carry it from now on."))
        return redirect(self.endpoint_url("webhook"))


class Secret(SetUpView):
    """Shows the current signing secret once, on request."""

    def post(self, request: HttpRequest) -> HttpResponse:
        endpoints.show_secret(endpoint=self.endpoint, by=actor(request), at=clock.now())
        request.session[_FRESH] = self.fresh_key
        return redirect(f"{self.endpoint_url('webhook')}#secret")


class RotateSecret(SetUpView):
    """A second press of the button names the secret that the first has ended, and ends no other."""

    def post(self, request: HttpRequest) -> HttpResponse:
        end_previous = _moment(request.POST.get("end_previous", ""))
        try:
            endpoints.rotate_secret(
                endpoint=self.endpoint, by=actor(request), at=clock.now(), end_previous=end_previous
            )
        except SecretRotatedLately as error:
            messages.error(request, refusal(error))
            return redirect(self.endpoint_url("webhook"))
        messages.success(request, _("The secret was rotated. For 24 hours webhooks are signed with the old one too."))
        request.session[_FRESH] = self.fresh_key
        return redirect(f"{self.endpoint_url('webhook')}#secret")


def _moment(text: str) -> datetime | None:
    """The moment that a page has sent back; None if it is none."""
    try:
        return parse_datetime(text[:_LONGEST_MOMENT])
    except ValueError:  # such as a 13th month
        return None

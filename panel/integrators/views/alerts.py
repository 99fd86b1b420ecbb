"""The page of alerts: what the person is told by e-mail, the URL that is told, a test, and what was sent to the URL."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.contrib.auth.models import User
from django.forms.models import model_to_dict
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.functional import cached_property
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from common.mail import outbox
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.errors import EndpointCannotSend
from delivery.alerts import actions as alerts
from delivery.alerts.models import CHOSEN, EndpointAlerts
from delivery.models import IntegratorMembership
from delivery.refusals import refusal
from panel import open_alerts
from panel.base import AccountView, LoggedInView, page_language
from panel.forms import AlertTimesForm, AlertUrlForm

_MOST_POSTS = 20
_CHAT_ADDRESSES = {
    "Slack": ["https://hooks.slack.com/services/T…/B…/…", "slack://T…/B…/…"],
    "Discord": ["https://discord.com/api/webhooks/…/…", "discord://…/…"],
    "Telegram": ["tgram://123456:…/-100123", "tgram://123456:…/@channel"],
    "Google Chat": ["https://chat.googleapis.com/v1/spaces/…/messages?key=…&token=…", "gchat://…/…/…"],
    "Teams": ["https://….logic.azure.com/workflows/…", "https://….powerplatform.com/powerautomate/…"],
}


class AlertsView(AccountView):
    """Base of the views of alerts."""

    @cached_property
    def membership(self) -> IntegratorMembership | None:
        """The person's own. Account staff see the page without one."""
        return self.account.memberships.filter(user=self.request.user.pk).first()

    @property
    def email(self) -> str:
        user = self.request.user
        return user.email if isinstance(user, User) else ""

    def show(self, form: AlertUrlForm, times: AlertTimesForm | None = None, *, status: int = 200) -> HttpResponse:
        told = EndpointAlerts.objects.filter(endpoint=self.endpoint).first()
        shown = told or EndpointAlerts()  # with the defaults
        return self.page(
            "panel/alerts.html",
            form=form,
            times=times or AlertTimesForm(model_to_dict(shown, AlertTimesForm.base_fields)),
            told=told,
            posts=told.posts.all()[:_MOST_POSTS] if told else [],
            choices=self._choices(),
            email=self.email,
            has_mail_server=outbox.is_configured(),
            chat_addresses=_CHAT_ADDRESSES.items(),
            is_mailed=bool(self.email) and outbox.is_configured(),
            status=status,
        )

    def _choices(self) -> list[tuple[str, Any, bool]]:
        """Value, name and choice of each kind; none for account staff."""
        if self.membership is None:
            return []
        choice = alerts.choice_of(self.membership, self.environment)
        return [(kind.value, kind.label, getattr(choice, kind)) for kind in CHOSEN]


class Alerts(AlertsView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(AlertUrlForm())


class Choose(AlertsView):
    """Saves what the person is told, in the language of the page."""

    def post(self, request: HttpRequest) -> HttpResponse:
        if self.membership is None:
            raise Http404
        wanted = {kind.value: kind.value in request.POST for kind in CHOSEN}
        alerts.choose(membership=self.membership, environment=self.environment, wanted=wanted, language=page_language())
        messages.success(request, _("Saved. You are told in the language of this page."))
        return redirect(self.url("alerts"))


class SetUpView(AlertsView):
    """Base of the views that change what the account is told and where. 403 for members who may not request."""

    def may_open(self) -> bool:
        return self.may_request


class SetUrl(SetUpView):
    def post(self, request: HttpRequest) -> HttpResponse:
        form = AlertUrlForm(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        url = form.cleaned_data["url"]
        try:
            alerts.set_url(endpoint=self.endpoint, url=url, language=page_language(), by=actor(request), at=clock.now())
        except InvalidWebhookUrl as error:
            form.add_error("url", refusal(error))
            return self.show(form, status=422)
        messages.success(
            request,
            _("The URL was saved. Send a test to see that alerts arrive.") if url else _("The URL was removed."),
        )
        return redirect(self.url("alerts"))


class SetTimes(SetUpView):
    def post(self, request: HttpRequest) -> HttpResponse:
        times = AlertTimesForm(request.POST)
        if not times.is_valid():
            return self.show(AlertUrlForm(), times, status=422)
        alerts.set_times(endpoint=self.endpoint, **times.cleaned_data, by=actor(request), at=clock.now())
        messages.success(request, _("The times were saved."))
        return redirect(self.url("alerts"))


class AllAlerts(LoggedInView, PermissionRequiredMixin):
    """What is wrong now in all accounts, of one `kind` if it is chosen. For account staff."""

    permission_required = "delivery.change_integrator"

    def get(self, request: HttpRequest) -> HttpResponse:
        found, chosen = open_alerts.of_all_accounts(at=clock.now()), request.GET.get("kind")
        kinds = open_alerts.counted(found)
        return self.page(
            "panel/all_alerts.html",
            kinds=kinds,
            chosen=chosen,
            rows=[each for each in found if chosen not in open_alerts.KINDS or each.kind == chosen],
            most=open_alerts.MOST,
            is_cut=any(kind.is_full for kind in kinds),
        )


class Test(AlertsView):
    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            alerts.send_test(
                endpoint=self.endpoint, email=self.email, language=page_language(), by=actor(request), at=clock.now()
            )
        except EndpointCannotSend as error:
            messages.error(request, refusal(error))
        else:
            messages.success(request, _("A test alert is on its way. It takes up to ten seconds."))
        return redirect(self.url("alerts"))

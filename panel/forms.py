"""What people type into the panel. Rules are the actions'; a form turns text into values and refusals into words."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common import clock
from common.accounts import Role
from common.formats import moment
from panel.periods import CHOICES, MOMENT_INPUT, PERIODS, RANGE

# The period of `RangeForm` that begins with the first failed event.
SINCE_FIRST_FAILURE = "failure"


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


class AlertUrlForm(forms.Form):
    """Where alerts are posted. What is allowed is judged by the action."""

    url = forms.CharField(
        label=_("URL"),
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

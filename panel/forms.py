"""What people type into the panel. Rules are the actions'; a form turns text into values and refusals into words."""

from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _


class UrlForm(forms.Form):
    """Where webhooks go. What is allowed is judged by the action, which says why not."""

    url = forms.CharField(
        label=_("URL"),
        max_length=2000,
        required=False,
        help_text=_("Begins with https://, port 443 or 8443, a public host. Empty: nothing is sent."),
        widget=forms.TextInput(
            {"placeholder": "https://shop.example.com/rota", "inputmode": "url", "autocomplete": "off"}
        ),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if settings.WEBHOOK_ALLOW_LOOPBACK:
            self.fields["url"].help_text = _(
                "Begins with https://, port 443 or 8443, a public host; or http://127.0.0.1 with any port, for trying "
                "it on this machine. Empty: nothing is sent."
            )


class RangeForm(forms.Form):
    """From when to when failed events are sent again. In the service's own time zone."""

    since = forms.DateTimeField(label=_("From"), widget=forms.DateTimeInput({"type": "datetime-local"}))
    until = forms.DateTimeField(label=_("Until"), widget=forms.DateTimeInput({"type": "datetime-local"}))

    def clean(self) -> None:
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("since") and cleaned.get("until") and cleaned["since"] >= cleaned["until"]:
            self.add_error("until", _("The end lies before the beginning."))

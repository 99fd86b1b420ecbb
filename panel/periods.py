"""Periods to choose from in filters and forms."""

from datetime import timedelta

from django import forms
from django.utils.translation import gettext_lazy as _

PERIODS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
# Between two moments, which have fields of their own.
RANGE = "range"
CHOICES = [
    ("hour", _("Last hour")),
    ("day", _("Last 24 hours")),
    ("week", _("Last 7 days")),
    ("month", _("Last 30 days")),
    (RANGE, _("From … until …")),
]
# Without seconds, and in the form that browsers take.
MOMENT_INPUT = forms.DateTimeInput({"type": "datetime-local"}, format="%Y-%m-%dT%H:%M")

"""What happened to the log-ins of a driver: links that were issued, and sessions of phones that have ended."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from delivery.models import Driver, DriverDevice, DriverLogInLink

_SHOWN = 20


@dataclass(frozen=True)
class Entry:
    """`by`: an actor as histories record it; `phone` is empty where none was involved."""

    at: datetime
    text: str
    by: str
    phone: str = ""


def latest(driver: Driver, *, at: datetime) -> list[Entry]:
    """The latest twenty, newest first."""
    links = [_issued(link, at) for link in driver.log_in_links.order_by("-created_at")[:_SHOWN]]
    ended = driver.devices.exclude(revoked_at=None).order_by("-revoked_at")[:_SHOWN]
    entries = links + [_ended(device) for device in ended]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)[:_SHOWN]


def _issued(link: DriverLogInLink, at: datetime) -> Entry:
    if link.used_at is not None:
        text = _("Log-in link issued and used")
    elif link.expires_at > at:
        text = _("Log-in link issued, not used yet")
    else:
        text = _("Log-in link issued, expired unused")
    return Entry(link.created_at, text, link.created_by)


def _ended(device: DriverDevice) -> Entry:
    if device.revoked_at is None:
        raise ValueError("The session has not ended.")
    return Entry(device.revoked_at, _("Phone logged out"), device.revoked_by, str(device))

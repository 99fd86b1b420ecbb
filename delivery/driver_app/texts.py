"""Texts that the app's modules put together. All others are in its templates."""

from django.utils.translation import gettext as _

from delivery import words


def texts() -> dict[str, str]:
    """In the language of the request, by the names that the modules use."""
    return {
        **{f"status.{code}": str(label) for code, label in words.STATUSES.items()},
        "move.collect": _("Collected at A"),
        "move.deliver": _("Delivered at"),
        "move.fail": _("Not delivered at"),
        "move.return": _("Returned to A"),
        "error.unreachable": _("No connection. Try again when you have signal."),
        "error.kept": _("This phone cannot keep anything: its storage is full or switched off."),
        "error.photo": _("This photo cannot be read. Take it again."),
        "error.photos": _("Up to three photos."),
        "error.other": _("Write what happened."),
        "error.push": _("This browser cannot receive notifications now. Try again later, in the menu."),
        "error.pin": _("Enter the four digits."),
        "error.needs_photo": _("Take a photo first."),
        "time.minutes": _("%s min"),
        "time.seconds": _("%s s"),
        "time.over": _("over"),
    }

"""Actors, as histories and the audit trail record them."""

from django.http import HttpRequest
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop


def actor(request: HttpRequest) -> str:
    """The actor of a request, such as "user maria"."""
    return f"user {request.user.get_username()}"


def member(request: HttpRequest) -> str:
    """The actor of a request by a member of the account that it concerns, such as "member maria"."""
    return f"member {request.user.get_username()}"


# Actors who are people. Their name is shown alone.
_PEOPLE = {"user", "member"}
# The other kinds.
_KINDS = {
    gettext_noop("token"),
    gettext_noop("key"),
    gettext_noop("driver"),
    gettext_noop("carrier"),
    gettext_noop("shop"),
}
RETENTION = "system: data retention"  # the end of the time for which data about people is kept
DATABASE = "database"  # in `common.postgresql.row_history`: a change without an actor
_SYSTEM = {
    DATABASE: gettext_noop("Directly in the database"),
    RETENTION: gettext_noop("the service (data retention)"),
    "system: offer deadline": gettext_noop("offer deadline"),
    "system: sandbox": gettext_noop("sandbox"),
    "sandbox simulator": gettext_noop("sandbox simulator"),
    "rule of assignment": gettext_noop("rule of assignment"),
    "simulated carrier": gettext_noop("simulated carrier"),
    "setting of the URL": gettext_noop("setting of the URL"),
}


def actor_name(value: str) -> str:
    """The actor in the reader's language: a user by the name alone, another with its kind."""
    if value in _SYSTEM:
        return _(_SYSTEM[value])
    kind, _space, name = value.partition(" ")
    if kind in _PEOPLE:
        return name
    if kind == "command" and name:
        return _("command line (%(command)s)") % {"command": name}
    return f"{_(kind)} {name}" if kind in _KINDS and name else value


def is_person(value: str) -> bool:
    """Whether the actor is somebody with a log-in, and no program."""
    return value.partition(" ")[0] in _PEOPLE

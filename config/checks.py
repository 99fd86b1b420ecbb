"""Checks of the environment, by `config.variables`. Every process runs them before anything else.

`problems` gives one sentence for each refused value. No sentence repeats a secret.
"""

import ipaddress
import os
from collections.abc import Mapping
from difflib import get_close_matches

from config import value_checks
from config.env import StartRefused
from config.value_checks import Check
from config.variables import VARIABLES

# Of two names, from 0 to 1: one wrong or missing letter in nine, or two letters that are exchanged.
_SIMILAR = 0.85
_PUBLIC = (
    "would open the embedded mode to other machines, and it asks for no second factor, sends its cookies without TLS "
    "and lets webhooks reach this machine: set DATABASE_URL and REDIS_URL for production, or ALLOW_PUBLIC_EMBEDDED=1"
)


def refuse_bad_environment() -> None:
    """Raise StartRefused naming all problems of this process's environment."""
    _refuse(problems(os.environ))


def refuse_embedded() -> None:
    """Raise StartRefused if neither DATABASE_URL nor REDIS_URL is set, for processes that do not start the servers."""
    if not _is_production(os.environ):
        _refuse(
            ["DATABASE_URL and REDIS_URL are not set: production needs both, and `make run` starts servers of its own"]
        )


def refuse_public_embedded(host: str) -> None:
    """Raise StartRefused if embedded mode would listen for other machines, unless ALLOW_PUBLIC_EMBEDDED is set."""
    is_allowed = os.environ.get("ALLOW_PUBLIC_EMBEDDED") in value_checks.TRUE
    if not (_is_production(os.environ) or is_allowed or _is_loopback(host)):
        _refuse([f"HOST={host} {_PUBLIC}"])


def problems(environment: Mapping[str, str]) -> list[str]:
    """One sentence for each value that is refused."""
    given = {
        name: environment[name]
        for name, variable in VARIABLES.items()
        if environment.get(name) or (name in environment and variable.check and not variable.may_be_empty)
    }
    found = _faults(given, {name: variable.check for name, variable in VARIABLES.items()})
    if "EMAIL_URL" in given and "DEFAULT_FROM_EMAIL" not in given:
        found.append("DEFAULT_FROM_EMAIL is not set: the sender of e-mails, such as Rota <rota@example.com>")
    if "DATABASE_REPLICA_URL" in given and given["DATABASE_REPLICA_URL"] == given.get("DATABASE_URL"):
        found.append("DATABASE_REPLICA_URL is the same as DATABASE_URL: it names a replica, or is not set")
    if ("VAPID_PRIVATE_KEY" in given) != ("VAPID_SUBJECT" in given):
        found.append("VAPID_PRIVATE_KEY and VAPID_SUBJECT are needed together, for Web Push")
    if _is_production(given):
        found += [
            f"{name} is not set: {variable.required}"
            for name, variable in VARIABLES.items()
            if variable.required and name not in given
        ]
        found += _faults(given, {name: variable.in_production for name, variable in VARIABLES.items()})
    return found


def misspelt(environment: Mapping[str, str]) -> list[str]:
    """A sentence for each variable that is none of this service but nearly the name of one that is not set."""
    found = []
    for name in sorted(environment):
        if name not in VARIABLES and (near := get_close_matches(name, VARIABLES, n=1, cutoff=_SIMILAR)):
            (meant,) = near
            if meant not in environment:
                found.append(f"{name} is not a variable of Rota and has no effect: the nearest is {meant}")
    return found


def _faults(given: Mapping[str, str], checks: Mapping[str, Check | None]) -> list[str]:
    """What the checks say about the given values, in the order of `VARIABLES`."""
    return [
        f"{name} {fault}" for name, check in checks.items() if name in given and check and (fault := check(given[name]))
    ]


def _refuse(found: list[str]) -> None:
    if found:
        raise StartRefused("\n".join(["Rota does not start in this environment:", *(f"  {text}" for text in found)]))


def _is_production(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("DATABASE_URL") or environment.get("REDIS_URL"))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"

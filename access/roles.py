"""Who may do what in the admin and on the board: two groups, made and kept by a migration.

Integrator members are in neither; what they see hangs on their membership alone (`access.rights`).
"""

ACCOUNT_STAFF = "Account staff"
DISPATCHERS = "Dispatchers"

_ALL = ("view", "add", "change", "delete")
_KEPT = ("view", "add", "change")  # what others refer to is not deleted
_LOOK = ("view",)

# Group -> app -> model -> what may be done with it.
ROLES: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {
    ACCOUNT_STAFF: {
        "auth": {"user": _LOOK},
        "delivery": {
            "integrator": _KEPT,
            "pickuppoint": _ALL,
            "token": ("view", "add"),
            "webhookendpoint": ("view", "change"),
            "webhookevent": _LOOK,
            "webhookattempt": _LOOK,
            "auditentry": _LOOK,
            "tariff": _ALL,
            "delivery": _LOOK,
            "stop": _LOOK,
            "transition": _LOOK,
        },
        "integration": {
            "seller": _KEPT,
            "company": _KEPT,
            "apikey": ("view", "add"),
            "freightrate": _ALL,
            "freightparameters": ("view", "change"),
            "order": _LOOK,
            "statuslog": _LOOK,
            "searchcode": _LOOK,
            "invoice": _LOOK,
            "invoicelink": _LOOK,
        },
    },
    DISPATCHERS: {
        "delivery": {
            "delivery": ("view", "dispatch"),
            "stop": _LOOK,
            "transition": _LOOK,
            "webhookevent": _LOOK,
            "webhookattempt": _LOOK,
            "driver": _KEPT,
            "driverposition": ("view", "add"),
        },
        "integration": {
            "order": ("view", "change"),
            "statuslog": _LOOK,
            "searchcode": ("view", "add"),
        },
    },
}


def codenames(role: str) -> set[tuple[str, str]]:
    """Every permission of a role, as (app, codename)."""
    return {
        (app, f"{verb}_{model}")
        for app, models in ROLES[role].items()
        for model, verbs in models.items()
        for verb in verbs
    }

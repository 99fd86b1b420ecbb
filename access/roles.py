"""Permissions of the two roles, which are groups in the database.

The groups belong to the code: `synchronise` runs after each `migrate` and resets their permissions to those of ROLES.
Members of accounts and sellers are in neither group; what they see follows from their membership (`access.rights`).
"""

from typing import Any

from django.apps import apps as installed_apps
from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions

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
            "invoice": ("view", "change"),  # to change one is to link it to an order
            "invoicereference": _LOOK,
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


def synchronise(*, using: str, apps: Apps = installed_apps, **_signal: Any) -> None:
    """Receiver of post_migrate: create the groups, and give each exactly the permissions of its role.

    `apps` is the state that the migration ended in. An app that is not part of it has no permissions yet.
    """
    labels = {app for models in ROLES.values() for app in models}
    for label in labels:
        # Django creates an app's permissions at this signal too, but after this receiver for apps further down.
        create_permissions(installed_apps.get_app_config(label), verbosity=0, using=using, apps=apps)
    try:
        group_model, permission_model = apps.get_model("auth", "Group"), apps.get_model("auth", "Permission")
    except LookupError:  # `migrate` of a single app, on which `auth` does not depend
        return
    permissions = permission_model._default_manager.using(using).filter(content_type__app_label__in=labels)
    rows = permissions.values_list("pk", "content_type__app_label", "codename")
    ids = {(app, codename): pk for pk, app, codename in rows}
    for role in ROLES:
        group, _created = group_model._default_manager.using(using).get_or_create(name=role)
        group.permissions.set(ids[name] for name in codenames(role) if name in ids)

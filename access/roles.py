"""Permissions of the roles, which are groups in the database.

The groups belong to the code: `synchronise` runs after each `migrate` and resets their permissions to those of ROLES.
Members of accounts and sellers are in none of them; what they see follows from their membership (`access.rights`).
"""

from typing import Any

from django.apps import apps as installed_apps
from django.apps.registry import Apps
from django.contrib.auth.management import create_permissions

ACCOUNT_STAFF = "Account staff"
DISPATCHERS = "Dispatchers"
DEPOT_STAFF = "Depot staff"

_ALL = ("view", "add", "change", "delete")
_NO_DELETE = ("view", "add", "change")  # other rows refer to it
_VIEW = ("view",)

# Group -> app -> model -> what may be done with it.
ROLES: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {
    ACCOUNT_STAFF: {
        "auth": {"user": _VIEW},
        "delivery": {
            "integrator": _NO_DELETE,
            "pickuppoint": _ALL,
            "token": ("view", "add"),
            "webhookendpoint": ("view", "change"),
            "webhookevent": _VIEW,
            "webhookattempt": _VIEW,
            "auditentry": _VIEW,
            "tariff": _ALL,
            "tariffchange": _VIEW,
            "servicehours": _ALL,
            "servicehourschange": _VIEW,
            "dispatchrules": _VIEW,  # of the whole installation: changed by superusers
            "dispatchruleschange": _VIEW,
            "delivery": _VIEW,
            "stop": _VIEW,
            "transition": _VIEW,
        },
        "mail": {"message": _VIEW},
        "access": {"personrequest": ("view", "add")},
        "integration": {
            "seller": _NO_DELETE,
            "company": _NO_DELETE,
            "apikey": ("view", "add"),
            "freightrate": _ALL,
            "freightparameters": ("view", "change"),
            "freightpricechange": _VIEW,
            "freightparameterschange": _VIEW,
            "carrier": _NO_DELETE,
            "carrierkey": ("view", "add"),
            "carrierrule": _ALL,
            "refusedcarriercall": _VIEW,
            "assignment": _VIEW,
            "correction": _VIEW,
            "order": ("view", "assign", "scan"),
            "statuslog": _VIEW,
            "searchcode": _VIEW,
            "invoice": ("view", "change"),  # to change one is to link it to an order
            "invoicereference": _VIEW,
            "invoicelink": _VIEW,
            "invoicechange": _VIEW,
            "webhookendpoint": ("view", "change"),
            "webhookevent": _VIEW,
            "webhookattempt": _VIEW,
            "manifest": _VIEW,
            "manifestentry": _VIEW,
        },
    },
    DISPATCHERS: {
        "delivery": {
            "delivery": ("view", "dispatch"),
            "stop": _VIEW,
            "transition": _VIEW,
            "webhookevent": _VIEW,
            "webhookattempt": _VIEW,
            "driver": _NO_DELETE,
            "driverposition": ("view", "add"),
            "dispatchrules": _VIEW,
            "dispatchruleschange": _VIEW,
        },
        "integration": {
            "order": ("view", "change", "assign", "scan"),
            "carrier": _VIEW,
            "assignment": _VIEW,
            "correction": _VIEW,
            "invoice": _VIEW,
            "invoicereference": _VIEW,
            "invoicelink": _VIEW,
            "invoicechange": _VIEW,
            "manifest": _VIEW,
            "manifestentry": _VIEW,
            "statuslog": _VIEW,
            "searchcode": ("view", "add"),
            "webhookevent": _VIEW,
            "webhookattempt": _VIEW,
        },
    },
    # They scan parcels, and see no other page.
    DEPOT_STAFF: {"integration": {"order": ("scan",)}},
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

"""One world for all calls of this folder, each of which is rolled back.

The folder is a package, because pytest ends what belongs to a folder only with the session.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.contrib.admin.models import LogEntry
from django.db import connection, transaction
from django.utils import timezone

from access import invitations
from common.pages.attempts import Limit
from common.webhooks import endpoints
from delivery.accounts import tokens
from delivery.actions import proofs
from delivery.alerts import actions as alerts
from delivery.models import DispatchRules
from integration.accounts import keys
from tests.scope.world import LIMIT, World


@pytest.fixture(scope="package")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[World]:
    """Everybody's rows, in a transaction that is rolled back at the end of these tests, and a clock that stands."""
    now = timezone.now()
    with django_db_blocker.unblock(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(timezone, "now", lambda: now)
        patch.setattr(LogEntry._meta.get_field("action_time"), "_get_default", lambda: now)  # it has the clock itself
        patch.setattr(settings, "EMAIL_URL", "smtp://127.0.0.1:9")  # whatever can be sent is written
        patch.setattr(settings, "INVOICES_PER_DAY", LIMIT)
        outermost: Any = transaction.atomic()
        outermost._from_testcase = True  # durable blocks may be within it
        outermost.__enter__()
        try:
            rules = {"driver_share_percent": 70}  # otherwise nothing is shown of earnings
            DispatchRules.objects.update_or_create(pk=1, defaults=rules)
            made = World()
            for module, name in (
                (alerts, "TESTS_PER_HOUR"), (endpoints, "TESTS_PER_HOUR"), (tokens, "MOST_VALID"), (keys, "MOST_VALID"),
                (proofs, "MOST_PHOTOS"), (proofs, "MOST_WRONG_PINS"),
            ):  # fmt: skip
                patch.setattr(module, name, LIMIT)
            most = Limit(invitations.PER_ACCOUNT.name, LIMIT, invitations.PER_ACCOUNT.window)
            patch.setattr(invitations, "PER_ACCOUNT", most)
            yield made
        finally:
            transaction.set_rollback(True)
            outermost.__exit__(None, None, None)
            connection.close()


@pytest.fixture(autouse=True)
def _rules_of_the_world(world: World) -> None:
    DispatchRules.forget_current()


@pytest.fixture(autouse=True)
def _whole_world(world: World, db: None) -> Iterator[None]:
    """Give the next test what this one has removed."""
    yield
    world.ledger.remove(())

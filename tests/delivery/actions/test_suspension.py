"""Suspending an account, what it refuses meanwhile, and lifting the suspension."""

from functools import partial
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from common.accounts import InvalidReason
from common.webhooks import endpoints
from delivery.accounts import integrators, tokens
from delivery.errors import AccountSuspended
from delivery.models import AuditEntry, Environment, Integrator, Token, WebhookEndpoint, WebhookEvent
from tests.cases import in_turn
from tests.delivery.locking import without_waiting
from tests.factories import BY, IntegratorFactory, TokenFactory

NOW = timezone.now()
pytestmark = pytest.mark.django_db
URL = "http://127.0.0.1:9/hook"


def suspend(integrator, reason="unpaid", by="user ana"):
    return integrators.suspend(integrator=integrator, reason=reason, by=by, at=NOW)


def state():
    """Everything that an account's people could change, and what is written of it."""
    return (
        list(Token.objects.order_by("pk").values_list()),
        list(WebhookEndpoint.objects.order_by("pk").values_list()),
        WebhookEvent.objects.count(),
        AuditEntry.objects.count(),
    )


@pytest.fixture
def token(db):
    """A token of an account with a webhook URL."""
    token = TokenFactory.create()
    endpoints.set_url(endpoint=token.integrator.endpoints.get(environment="live"), url=URL, by=BY, at=NOW)
    return token


class TestSuspend:
    @pytest.mark.parametrize("sandbox", [False, True])
    def test_refuses_the_tokens_of_both_environments_at_once(self, sandbox, django_assert_num_queries):
        token = TokenFactory.create(sandbox=sandbox)
        tokens.authenticate(token.clear_text, at=NOW)

        suspend(token.integrator)

        with django_assert_num_queries(1), pytest.raises(AccountSuspended):
            tokens.authenticate(token.clear_text, at=NOW)

    def test_keeps_when_by_whom_and_why_and_is_audited_in_each_environment(self, token):
        assert suspend(token.integrator, " unpaid\n") is True

        account = Integrator.objects.get()
        assert (account.suspended_at, account.suspended_by, account.suspension_reason) == (NOW, "user ana", "unpaid")
        written = AuditEntry.objects.filter(action="account_suspended").order_by("environment")
        assert list(written.values_list("environment", "subject", "by", "at")) == [
            ("live", "unpaid", "user ana", NOW),
            ("sandbox", "unpaid", "user ana", NOW),
        ]

    def test_of_a_suspended_account_changes_nothing(self, token):
        suspend(token.integrator)

        assert suspend(token.integrator, "other", "user bob") is False

        assert Integrator.objects.get().suspension_reason == "unpaid"
        assert AuditEntry.objects.filter(action="account_suspended").count() == 2

    def test_refuses_a_reason_that_its_column_cannot_hold(self, token):
        for reason in ("", " \n", "x" * 256, "a\0b"):
            with pytest.raises(InvalidReason):
                suspend(token.integrator, reason)

        assert Integrator.objects.get().suspended_at is None
        assert not AuditEntry.objects.filter(action="account_suspended").exists()
        assert suspend(token.integrator, f" {'x' * 255} ") is True


class TestSuspendedAccount:
    @in_turn(
        "change",
        [
            lambda token, _hook: tokens.issue(integrator=token.integrator, environment=Environment.LIVE, by=BY, at=NOW),
            lambda token, _hook: tokens.rotate(token=token, by=BY, at=NOW),
            lambda _token, hook: endpoints.set_url(endpoint=hook, url=f"{URL}/new", by=BY, at=NOW),
            lambda _token, hook: endpoints.set_url(endpoint=hook, url="", by=BY, at=NOW),
            lambda _token, hook: endpoints.set_up(endpoint=hook, url=f"{URL}/new", by=BY, at=NOW),
            lambda _token, hook: endpoints.set_filter(endpoint=hook, statuses=["FAILED"], by=BY, at=NOW),
            lambda _token, hook: endpoints.rotate_secret(endpoint=hook, by=BY, at=NOW),
            lambda _token, hook: endpoints.send_test(endpoint=hook, by=BY, at=NOW),
        ],
    )
    def test_is_refused_new_credentials_urls_and_test_events(self, token, change):
        hook = token.integrator.endpoints.get(environment="live")
        suspend(token.integrator)
        before = state()

        with pytest.raises(AccountSuspended):
            change(token, hook)

        assert state() == before

    def test_may_revoke_tokens_and_switch_off_webhooks(self, token):
        hook = token.integrator.endpoints.get(environment="live")
        suspend(token.integrator)

        tokens.revoke(token=token, by=BY, at=NOW)
        endpoints.set_enabled(endpoint=hook, enabled=False, by=BY, at=NOW)

        assert Token.objects.get().revoked_at == NOW
        assert not WebhookEndpoint.objects.get(pk=hook.pk).enabled


class TestLiftSuspension:
    def test_restores_everything_as_it_was_and_is_audited_in_each_environment(self, token):
        before, row = state(), list(Integrator.objects.values_list())
        suspend(token.integrator)

        assert integrators.lift_suspension(integrator=token.integrator, by="user ana", at=NOW) is True

        assert (state()[:3], list(Integrator.objects.values_list())) == (before[:3], row)
        assert tokens.authenticate(token.clear_text, at=NOW).pk == token.pk
        written = AuditEntry.objects.filter(action="suspension_lifted").order_by("environment")
        assert list(written.values_list("environment", "by")) == [("live", "user ana"), ("sandbox", "user ana")]

    def test_of_an_account_that_is_not_suspended_changes_nothing(self, token):
        before = state()

        assert integrators.lift_suspension(integrator=token.integrator, by=BY, at=NOW) is False
        assert state() == before


def test_the_database_refuses_half_a_suspension(token):
    at: dict[str, Any] = {"suspended_at": NOW}
    by, why = {"suspended_by": BY}, {"suspension_reason": "unpaid"}

    for half in (at, at | by, at | why, by, why):
        with pytest.raises(IntegrityError, match="integrator_suspension_has_who_and_why"), transaction.atomic():
            Integrator.objects.update(**half)


@pytest.mark.django_db(transaction=True)
def test_a_token_issued_while_its_account_is_suspended_waits_and_is_refused(at_once):
    integrator = IntegratorFactory.create()
    with transaction.atomic():
        suspend(integrator)
        issued = at_once(
            partial(
                without_waiting,
                partial(tokens.issue, integrator=integrator, environment=Environment.LIVE, by=BY, at=NOW),
            )
        )

    assert "lock timeout" in str(issued[0])
    assert not Token.objects.exists()

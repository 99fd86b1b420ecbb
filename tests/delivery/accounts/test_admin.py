"""What account staff do: open accounts, issue, rotate and revoke tokens, set webhook URLs."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from delivery.accounts import tokens
from delivery.actions import deliveries
from delivery.errors import AccountSuspended, InvalidToken
from delivery.models import Environment, Integrator, Tariff, Token, WebhookEndpoint
from tests.cases import in_turn
from tests.factories import BY, DeliveryFactory, IntegratorFactory, TariffFactory, TokenFactory


def works(clear_text):
    try:
        return bool(tokens.authenticate(clear_text, at=timezone.now()))
    except (AccountSuspended, InvalidToken):
        return False


def shown(response):
    """The token on the page."""
    return response.content.decode().split('<code class="body">')[1].split("</code>")[0]


class TestSuspension:
    @pytest.fixture
    def token(self, db):
        return TokenFactory.create()

    def run(self, client, token, action, **data):
        url = reverse("admin:delivery_integrator_changelist")
        chosen = {"action": action, "_selected_action": [str(token.integrator.pk)], "confirmed": "yes", **data}
        return client.post(url, chosen, follow=True).content.decode()

    def test_asks_first_and_says_what_it_means(self, admin_client, token):
        DeliveryFactory.create(token=token)
        cancelled = DeliveryFactory.create(token=token)
        deliveries.cancel(delivery=cancelled, reason="", by=BY, at=timezone.now())
        sandbox = TokenFactory.create(integrator=token.integrator, sandbox=True)
        DeliveryFactory.create(token=sandbox)
        for ended in ({"revoked_at": timezone.now(), "revoked_by": BY}, {"expires_at": timezone.now()}):
            TokenFactory.create(integrator=token.integrator, **ended)
        other = IntegratorFactory.create(name="Other")
        DeliveryFactory.create(token=TokenFactory.create(integrator=other))

        page = self.run(admin_client, token, "suspend", reason="unpaid", confirmed="")

        assert f"Suspend {token.integrator.name}?" in page
        assert "2 valid tokens are refused" in page
        assert "1 live delivery under way goes on" in page
        assert "Other" not in page
        assert works(token.clear_text)
        assert not LogEntry.objects.exists()

    def test_is_set_and_lifted_from_the_accounts_page_too(self, admin_client, token):
        account = reverse("admin:delivery_integrator_change", args=[token.integrator.pk])
        url = reverse("admin:delivery_integrator_changelist")
        chosen = {"_selected_action": [str(token.integrator.pk)], "from_page": "yes", "confirmed": "yes"}
        offer = admin_client.get(account).content.decode()

        suspended = admin_client.post(url, {**chosen, "action": "suspend", "reason": "unpaid"})
        page = admin_client.get(account).content.decode()
        lifted = admin_client.post(url, {**chosen, "action": "lift_suspension"})

        assert 'name="action" value="suspend"' in offer
        assert (suspended.url, lifted.url) == (account, account)
        assert 'name="action" value="lift_suspension"' in page
        assert 'name="action" value="suspend"' not in page
        assert works(token.clear_text)

    def test_is_set_with_its_reason_and_lifted_from_the_list(self, admin_client, token):
        page = self.run(admin_client, token, "suspend", reason="unpaid")
        suspended = Integrator.objects.get(), works(token.clear_text)
        self.run(admin_client, token, "lift_suspension")

        assert 'title="unpaid">Suspended · ' in page
        account, worked = suspended
        assert (account.suspended_by, account.suspension_reason, worked) == ("user admin", "unpaid", False)
        assert works(token.clear_text)
        assert [entry.get_change_message() for entry in LogEntry.objects.order_by("pk")] == [
            "Suspended: unpaid",
            "Suspension lifted.",
        ]

    def test_without_a_reason_is_not_set_and_says_so(self, admin_client, token):
        page = self.run(admin_client, token, "suspend", reason=" ")

        assert "Say why, in at most 255 characters" in page
        assert works(token.clear_text)
        assert not LogEntry.objects.exists()

    def test_survives_that_the_account_is_saved_meanwhile(self, admin_client, token):
        """Two people at once: the one who saves the account's name writes nothing else."""
        with CaptureQueriesContext(connection) as queries:
            _save(admin_client, token.integrator, name="New")

        written = [query["sql"] for query in queries if query["sql"].startswith('UPDATE "delivery_integrator"')]
        assert Integrator.objects.get().name == "New"
        assert [sql for sql in written if "suspended_at" in sql] == []

    @in_turn(
        ("name", "data"),
        [
            ("token_add", lambda token: {"integrator": token.integrator.pk, "environment": "live"}),
            (
                "token_changelist",
                lambda token: {"action": "rotate", "_selected_action": [token.pk], "confirmed": "yes"},
            ),
            ("webhookendpoint_change", lambda _token: {"url": "http://127.0.0.1:9/hook", "enabled": "on"}),
            ("webhookendpoint_changelist", lambda token: _chosen(token, "send_test")),
            ("webhookendpoint_changelist", lambda token: _chosen(token, "rotate_secret")),
        ],
    )
    def test_refuses_staff_too_and_says_so(self, admin_client, token, name, data):
        self.run(admin_client, token, "suspend", reason="unpaid")
        before = list(Token.objects.values_list()), list(WebhookEndpoint.objects.order_by("pk").values_list())
        endpoint = token.integrator.endpoints.get(environment="live")
        url = reverse(f"admin:delivery_{name}", args=[endpoint.pk] if name.endswith("_change") else [])

        page = admin_client.post(url, data(token), follow=True)

        assert "The account is suspended." in page.content.decode()
        assert (list(Token.objects.values_list()), list(WebhookEndpoint.objects.order_by("pk").values_list())) == before


@pytest.mark.django_db
class TestAccount:
    @pytest.mark.parametrize(
        ("rule", "begun", "ended"),
        [
            ("allow_any_pickup", "any_pickup_allowed", "any_pickup_ended"),
            ("refuse_repeated_external_ids", "repeats_refused", "repeats_accepted"),
            ("approve_pickup_points", "approval_begun", "approval_ended"),
        ],
    )
    def test_audits_who_switches_a_rule_on_and_off(self, admin_client, rule, begun, ended):
        account = IntegratorFactory.create()

        for changes in ({rule: "on"}, {rule: "on", "name": "New"}, {}):
            _save(admin_client, account, **changes)

        entries = account.audit.order_by("id").values_list("action", "by", "environment")
        assert [entry for entry in entries if entry[2] == "live"] == [
            (begun, "user admin", "live"),
            (ended, "user admin", "live"),
        ]

    def test_audits_who_sets_another_policy(self, admin_client):
        account = IntegratorFactory.create()

        for changes in ({}, {"on_failure": "RETRY"}, {"on_failure": "RETRY", "name": "New"}):
            _save(admin_client, account, **changes)

        entries = account.audit.filter(action="policy_set").values_list("subject", "by")
        assert list(entries) == [("RETRY", "user admin")] * len(Environment)

    def test_is_listed_with_its_people_and_its_last_live_call(self, admin_client):
        now = timezone.now()
        account = IntegratorFactory.create()
        for environment, hours in (("live", 3), ("live", 2), ("sandbox", 1)):
            used = {"environment": environment, "last_used_at": now - timedelta(hours=hours)}
            TokenFactory.create(integrator=account, **used)
        for name in ("ana", "bia"):
            account.memberships.create(user=User.objects.create_user(name))

        page = admin_client.get(reverse("admin:delivery_integrator_changelist"))

        (row,) = page.context["cl"].result_list
        assert (row.called_at, row.member_count) == (now - timedelta(hours=2), 2)


def _save(client, account, **changes):
    """Save the account's page without pickup points."""
    inlines = {f"{name}-{key}": "0" for name in ("pickup_points", "tokens") for key in ("TOTAL_FORMS", "INITIAL_FORMS")}
    client.post(
        reverse("admin:delivery_integrator_change", args=[account.pk]),
        {"name": account.name, "on_failure": "RETURN", **inlines, **changes},
    )


def _chosen(token, action):
    return {
        "action": action,
        "_selected_action": [token.integrator.endpoints.get(environment="live").pk],
        "confirmed": "yes",
    }


class TestToken:
    def test_is_shown_once_and_works(self, admin_client):
        integrator = IntegratorFactory.create()

        response = admin_client.post(
            reverse("admin:delivery_token_add"), {"integrator": integrator.pk, "environment": "live"}
        )

        clear_text = shown(response)
        token = Token.objects.get(integrator=integrator)
        assert works(clear_text)
        assert token.created_by == "user admin"
        again = admin_client.get(reverse("admin:delivery_token_change", args=[token.pk]))
        assert clear_text not in again.content.decode()

    def test_is_rotated_and_revoked_from_the_list_beside_one_that_has_ended(self, admin_client):
        token = TokenFactory.create()
        ended = TokenFactory.create(integrator=token.integrator, revoked_at=timezone.now(), revoked_by=BY)
        url, chosen = (
            reverse("admin:delivery_token_changelist"),
            {"_selected_action": [str(token.pk), str(ended.pk)], "confirmed": "yes"},
        )

        new = shown(admin_client.post(url, {"action": "rotate", **chosen}))
        assert (works(token.clear_text), works(new)) == (True, True)
        admin_client.post(url, {"action": "revoke", **chosen})

        assert (works(token.clear_text), works(new)) == (False, True)
        assert Token.objects.count() == 3


class TestWebhookEndpoint:
    @pytest.fixture
    def endpoint(self, db):
        return IntegratorFactory.create().endpoints.get(environment="live")

    def save(self, client, endpoint, url):
        page = reverse("admin:delivery_webhookendpoint_change", args=[endpoint.pk])
        return client.post(page, {"url": url, "enabled": "on"})

    def test_says_what_is_wrong_with_a_bad_one(self, admin_client, endpoint):
        response = self.save(admin_client, endpoint, "https://10.0.0.1/hook")

        assert "Name a host, not an IP address." in response.content.decode()
        assert WebhookEndpoint.objects.get(pk=endpoint.pk).url == ""

    def test_shows_a_rotated_secret_once(self, admin_client, endpoint):
        response = admin_client.post(
            reverse("admin:delivery_webhookendpoint_changelist"),
            {"action": "rotate_secret", "_selected_action": [str(endpoint.pk)], "confirmed": "yes"},
        )

        assert shown(response).startswith("whsec_")
        assert shown(response).replace("&#x3D;", "=") == WebhookEndpoint.objects.get(pk=endpoint.pk).secret


def test_a_second_active_tariff_is_refused_with_a_sentence(admin_client):
    TariffFactory.create()
    fields = dict.fromkeys(("base_fare", "price_per_km", "maximum_km", "maximum_kg", "included_km"), "1")

    response = admin_client.post(
        reverse("admin:delivery_tariff_add"),
        {
            **fields, "vehicle_type": "MOTORCYCLE", "active": "on", "price_per_extra_dropoff": "0", "return_share": "1",
            "minimum_fare": "0", "cancel_percent_accepted": "0", "cancel_percent_collected": "0",
        },
    )  # fmt: skip

    assert "There is an active tariff" in response.content.decode()
    assert Tariff.objects.count() == 1

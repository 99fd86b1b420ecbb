"""The link that hands over the access data of an account, opened by somebody without a log-in."""

import re
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.utils import timezone

from access import access_links
from access.models import AccessLink
from access.tasks import prune_links
from delivery.accounts import integrators, tokens
from delivery.models import Environment, Integrator
from integration.accounts import keys, sellers
from integration.models import ApiKey
from tests.factories import BY, IntegratorFactory, TokenFactory, add_endpoint
from tests.integration.factories import SellerFactory, key_of


@pytest.fixture
def shop(db):
    return IntegratorFactory.create()


class TestLink:
    def test_shows_new_tokens_and_the_secrets_once(self, client, shop):
        path = access_links.issue(account=shop, by=BY, at=timezone.now())
        other = access_links.issue(account=IntegratorFactory.create(), by=BY, at=timezone.now())
        token = TokenFactory.create(integrator=shop)
        further = add_endpoint(token)

        looked, opened, again = client.get(path), client.post(path), client.post(path)

        content = opened.content.decode()
        issued = list(shop.tokens.exclude(pk=token.pk))
        assert looked.status_code == 200
        assert {each.environment for each in issued} == {*Environment.values}
        assert {each.created_by for each in issued} == {BY}
        assert all(each.clear_text in content for each in issued)
        assert [each for each in shop.endpoints.all() if each.secret not in content] == [further]
        assert shop.audit.filter(action="secret_shown", by=BY).count() == len(Environment)
        assert (again.status_code, client.get(path).status_code, shop.tokens.count()) == (410, 410, 3)
        assert client.get(other).status_code == 200

    @pytest.mark.parametrize("to_hand_over", [False, True])
    def test_ends_only_a_token_that_staff_issued_to_hand_over(self, client, shop, to_hand_over):
        """Another that is unused may be in a member's configuration."""
        unused = tokens.issue(
            integrator=shop, environment=Environment.LIVE, to_hand_over=to_hand_over, by=BY, at=timezone.now()
        )

        client.post(access_links.issue(account=shop, by=BY, at=timezone.now()))

        unused.refresh_from_db()
        assert (unused.expires_at is not None) == to_hand_over
        assert shop.tokens.filter(environment="live").count() == 2

    def test_shows_a_new_key_of_a_seller_for_each_environment_once(self, client, db):
        seller = SellerFactory.create()
        path = access_links.issue(account=seller, by=BY, at=timezone.now())

        opened, again = client.post(path), client.post(path)

        texts = dict.fromkeys(re.findall(r"rota_(?:test)?key_[\w-]{43}", opened.content.decode()))
        found = [ApiKey.find(text) for text in texts]
        assert [(key.environment, key.seller, key.created_by) for key in found if key] == [
            ("sandbox", seller, BY), ("live", seller, BY),
        ]  # fmt: skip  # a list
        assert (again.status_code, ApiKey.objects.filter(seller=seller).count()) == (410, 2)

    def test_expires_at_the_end_of_a_day(self, client, shop):
        at = timezone.now() - access_links.LIFETIME
        path = access_links.issue(account=shop, by=BY, at=at)

        assert client.post(path).status_code == 410
        assert shop.tokens.count() == 0
        key, end = path.partition("key=")[2], at + access_links.LIFETIME
        assert access_links.find(key, at=end - timedelta(microseconds=1)) == shop
        with pytest.raises(access_links.NotOpen):
            access_links.find(key, at=end)

    def test_does_not_hang_on_the_cache(self, client, shop):
        """The cache drops rows of others when it is full."""
        path = access_links.issue(account=shop, by=BY, at=timezone.now())
        cache.clear()

        assert client.post(path).status_code == 200

    @pytest.mark.django_db(transaction=True)
    def test_is_deleted_when_it_has_expired(self, shop):
        access_links.issue(account=shop, by=BY, at=timezone.now())
        access_links.issue(account=shop, by=BY, at=timezone.now() - access_links.LIFETIME)

        prune_links()

        assert AccessLink.objects.count() == 1

    def test_waits_while_the_account_is_suspended(self, client, account):
        path, now = access_links.issue(account=account, by=BY, at=timezone.now()), timezone.now()
        if isinstance(account, Integrator):
            integrators.suspend(integrator=account, reason="unpaid", by=BY, at=now)
        else:
            sellers.suspend(seller=account, reason="unpaid", by=BY, at=now)

        refused = client.post(path)
        type(account).objects.update(suspended_at=None, suspended_by="", suspension_reason="")

        assert "No credentials can be issued" in refused.content.decode()
        assert client.post(path).status_code == 200

    def test_waits_while_the_seller_has_as_many_keys_as_it_may_have(self, client, db, monkeypatch):
        monkeypatch.setattr(keys, "MOST_VALID", 1)
        seller = SellerFactory.create()
        path = access_links.issue(account=seller, by=BY, at=timezone.now())
        key_of(seller)

        refused, issued = client.post(path), ApiKey.objects.count()
        keys.revoke(key=ApiKey.objects.get(), by=BY, at=timezone.now())

        assert (refused.status_code, issued, client.post(path).status_code) == (410, 1, 200)

    def test_of_another_key_is_none(self, client, db):
        assert client.get("/account/access/?key=x").status_code == 410

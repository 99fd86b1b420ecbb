import logging
from datetime import UTC, datetime, timedelta

import pytest

from integration.accounts import keys
from integration.errors import InvalidKey
from integration.models import ApiKey
from tests.integration.factories import BY

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


@pytest.fixture
def issued(seller):
    return keys.issue(seller=seller, by=BY, at=NOW)


class TestRename:
    def test_gives_another_name_and_says_so_once(self, seller, issued, caplog):
        other = keys.issue(seller=seller, name="Shop", by=BY, at=NOW).key
        with caplog.at_level(logging.INFO, logger="integration.accounts.keys"):
            keys.rename(key=issued.key, name="ERP", by="user ana")
            keys.rename(key=issued.key, name="ERP", by="user ana")

        key = ApiKey.objects.exclude(pk=other.pk).get()
        assert key.title == f"ERP ({key.hint})"
        assert ApiKey.objects.get(pk=other.pk).name == "Shop"
        assert [record.getMessage() for record in caplog.records] == [f"key {key.pk} renamed by user ana"]


class TestRevoke:
    def test_keeps_when_and_by_whom_of_the_first_time(self, issued, caplog):
        with caplog.at_level(logging.INFO, logger="integration.accounts.keys"):
            first = keys.revoke(key=issued.key, by="user ana", at=NOW)
            second = keys.revoke(key=issued.key, by="user bob", at=NOW + timedelta(days=1))

        key = ApiKey.objects.get()
        assert (first, second) == (True, False)
        assert (key.revoked_at, key.revoked_by) == (NOW, "user ana")
        assert [record.getMessage() for record in caplog.records] == [f"key {key.pk} revoked by user ana"]


class TestAuthenticate:
    @pytest.mark.parametrize(("seconds", "written"), [(59, 0), (60, 60)])
    def test_writes_the_time_of_use_once_a_minute(self, issued, seconds, written):
        for at in (NOW, NOW + timedelta(seconds=seconds)):
            keys.authenticate(issued.clear_text, at=at)

        assert ApiKey.objects.get().last_used_at == NOW + timedelta(seconds=written)

    def test_refuses_another_text(self, issued):
        with pytest.raises(InvalidKey):
            keys.authenticate(f"{issued.clear_text}x", at=NOW)

        assert ApiKey.objects.get().last_used_at is None

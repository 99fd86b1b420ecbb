"""Pages of the list of deliveries, and the cursors that continue them."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery
from tests.delivery.api.calls import LIST, assert_problem
from tests.delivery.api.lists import NOON, flat, ids, walk
from tests.factories import BY, TokenFactory


@pytest.mark.django_db
class TestPages:
    def test_neither_leave_out_nor_repeat_while_others_write(self, api, made, token):
        expected = made(6)

        pages = walk(api, limit="2", meanwhile=lambda: made(2, at=NOON + timedelta(days=1)))

        assert flat(pages) == expected

    def test_keep_the_filter(self, api, made):
        cancelled = made(3)
        for key in cancelled:
            deliveries.cancel(delivery=Delivery.objects.get(pk=key), reason="", by=BY, at=timezone.now())
        made(3)

        assert flat(walk(api, limit="2", status="FAILED")) == cancelled


@pytest.mark.django_db
class TestACursor:
    @pytest.fixture
    def cursor(self, api, made):
        made(3)
        return api.get(LIST, {"limit": "1"}).json()["nextCursor"]

    def test_is_taken_with_another_limit(self, api, cursor):
        assert len(ids(api.get(LIST, {"limit": "2", "cursor": cursor}))) == 2

    def test_that_was_changed_is_refused(self, api, cursor):
        changed = [cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :] for place in (0, -2)]

        for spelling in [*changed, cursor[:-1], cursor + "A", cursor.swapcase(), cursor.partition(":")[0]]:
            assert_problem(api.get(LIST, {"cursor": spelling}), 422, "invalid_cursor")

    @pytest.mark.parametrize(
        "spelling", ["x", ":", "::", "a:b:c", "1", "null", "\0", "é🛵", "x" * 3500, ":" * 1000, "WyIi:x:y"]
    )
    def test_that_is_no_cursor_is_refused(self, api, spelling):
        assert api.get(LIST, {"cursor": spelling}).status_code == 422

    def test_of_another_account_is_refused(self, cursor, client_of):
        assert_problem(client_of(TokenFactory.create()).get(LIST, {"cursor": cursor}), 422, "invalid_cursor")

    def test_of_the_other_environment_is_refused(self, token, cursor, client_of):
        sandbox = TokenFactory.create(integrator=token.integrator, sandbox=True)

        assert_problem(client_of(sandbox).get(LIST, {"cursor": cursor}), 422, "invalid_cursor")

    def test_of_another_token_of_the_account_is_taken(self, token, cursor, client_of):
        rotated = TokenFactory.create(integrator=token.integrator)

        assert len(ids(client_of(rotated).get(LIST, {"cursor": cursor}))) == 2

    @pytest.mark.parametrize("query", [{"status": "PENDING"}, {"externalId": "order-1"}, {"createdFrom": "2026-07-15"}])
    def test_of_other_filters_is_refused(self, api, cursor, query):
        assert_problem(api.get(LIST, {**query, "cursor": cursor}), 422, "invalid_cursor")

"""Statements that are prepared on the connection, and not where that is switched off."""

import pytest
from django.db import connection

from common.postgresql import prepared

pytestmark = pytest.mark.django_db

SQL = "SELECT %s::int + 1 AS prepared_by_a_test"


def is_prepared():
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%%prepared_by_a_test%%'")
        return cursor.fetchone()[0] == 1


def run(number):
    return prepared.execute(SQL, [number]).fetchone()[0]


class TestExecute:
    def test_numbers_the_placeholders_and_no_percent_sign(self):
        found = prepared.execute("SELECT %s::text, '100 %%s', 7 %% %s::int", ["a", 4]).fetchone()

        assert found == ("a", "100 %s", 3)

    def test_prepares_a_statement_once_for_all_parameters(self):
        assert [run(1), run(2)] == [2, 3]
        assert is_prepared()

    def test_prepares_nothing_where_the_threshold_is_off(self, monkeypatch):
        connection.ensure_connection()
        monkeypatch.setattr(connection.connection, "prepare_threshold", None)
        with connection.cursor() as cursor:
            cursor.execute("DEALLOCATE ALL")

        assert run(1) == 2
        assert not is_prepared()

    def test_is_seen_by_those_who_count_statements(self, django_assert_num_queries):
        with django_assert_num_queries(1) as captured:
            run(1)

        assert "prepared_by_a_test" in captured[0]["sql"]

"""Statements that are prepared on the connection, and not where that is switched off."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import Group
from django.db import DataError, connection, transaction

from common.postgresql import prepared

pytestmark = pytest.mark.django_db

SQL = "SELECT %s::int + 1 AS prepared_by_a_test"


SET = "SELECT set_config('lock_timeout', %s, TRUE)"
SHOW = "SELECT current_setting('lock_timeout')"


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

    def test_reads_the_columns_of_each_statement_when_they_take_turns(self):
        moments = "SELECT %s::timestamptz, %s::int"
        at = datetime(2026, 11, 30, tzinfo=UTC)

        turns = [(run(1), prepared.execute(moments, [at, number]).fetchone()) for number in range(2)]

        assert turns == [(2, (at, 0)), (2, (at, 1))]

    @pytest.mark.django_db(transaction=True)
    def test_prepares_a_statement_again_on_a_new_connection(self):
        run(1)
        connection.close()

        assert run(2) == 3
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


class TestExecuteTogether:
    def test_returns_the_rows_of_the_last_statement_and_prepares_each(self):
        rows = prepared.execute_together((SQL, [1]), ("SELECT %s::int", [5]))

        assert rows == [(5,)]
        assert is_prepared()

    @pytest.mark.django_db(transaction=True)
    def test_is_one_transaction_where_none_is_open(self):
        rows = prepared.execute_together((SET, ["7s"]), (SHOW, []))

        assert rows == [("7s",)]
        assert prepared.execute(SHOW, []).fetchone() != ("7s",)

    def test_is_part_of_the_open_transaction(self):
        with transaction.atomic():
            prepared.execute_together((SET, ["7s"]), (SHOW, []))

            assert prepared.execute(SHOW, []).fetchone() == ("7s",)

    @pytest.mark.django_db(transaction=True)
    def test_executes_none_of_them_when_one_fails(self):
        with pytest.raises(DataError):
            prepared.execute_together(
                ("INSERT INTO auth_group (name) VALUES (%s)", ["drivers"]), ("SELECT 1 / %s", [0])
            )

        assert not Group.objects.filter(name="drivers").exists()

    @pytest.mark.parametrize("failing", [0, 1], ids=["the first", "the last"])
    def test_raises_the_errors_of_django(self, failing):
        statements = [("SELECT %s::int", [1]), ("SELECT %s::int", [1])]
        statements[failing] = ("SELECT 1 / %s", [0])

        with pytest.raises(DataError, match="division by zero"), transaction.atomic():
            prepared.execute_together(*statements)

        assert run(1) == 2

"""Statistics of tables that have none, on a real PostgreSQL."""

import pytest
from django.db import connection

from common.postgresql import statistics
from delivery.models import Delivery, DriverPosition, Stop, Transition, WebhookEvent
from integration.models import Order, StatusLog
from tests.cases import in_turn

pytestmark = pytest.mark.django_db


@pytest.fixture
def imported():
    """A table without statistics, in a schema of its own: plans of other tests depend on the statistics of theirs."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA analysed")
        cursor.execute("SET LOCAL search_path = analysed")
        cursor.execute("CREATE TABLE imported (id int PRIMARY KEY, account int)")
        cursor.execute("INSERT INTO imported SELECT n, n / 10 FROM generate_series(1, 5000) n")
        yield cursor


class TestAnalyzeNew:
    def test_makes_statistics_of_a_table_without(self, imported):
        assert "imported" in statistics.analyze_new()

        imported.execute("SELECT count(*) FROM pg_stats WHERE tablename = 'imported'")
        assert imported.fetchone() == (2,)

    def test_leaves_tables_with_statistics_to_autovacuum(self, imported):
        imported.execute("ANALYZE imported")

        assert "imported" not in statistics.analyze_new()

    def test_leaves_empty_tables_alone(self, imported):
        imported.execute("TRUNCATE imported")

        assert "imported" not in statistics.analyze_new()


class TestATableThatGrows:
    @in_turn("model", [Delivery, Stop, Transition, WebhookEvent, DriverPosition, Order, StatusLog])
    def test_is_analysed_after_a_number_of_changes_and_not_after_a_share_of_its_rows(self, model):
        with connection.cursor() as cursor:
            cursor.execute("SELECT reloptions FROM pg_class WHERE oid = %s::regclass", [model._meta.db_table])
            (options,) = cursor.fetchone()

        assert {"autovacuum_analyze_scale_factor=0", "autovacuum_analyze_threshold=1000"} <= set(options or ())

"""Moments on the pages of the panel."""

import re
from datetime import UTC, datetime

import pytest
from django.conf import settings
from django.utils import translation

from common.formats import moment
from panel.templatetags.panel import tile_name

OTHER_FORMAT = re.compile(r'\|(?:date:"SHORT_DATETIME_FORMAT"|time:"H:i:s")')


class TestMoment:
    @pytest.mark.parametrize(("language", "text"), [("en", "20 Nov 2026, 12:04:05"), ("pt-br", "20/11/2026 12:04:05")])
    def test_has_the_date_and_seconds_in_the_services_time_zone(self, language, text):
        with translation.override(language):
            assert moment(datetime(2026, 11, 20, 15, 4, 5, tzinfo=UTC)) == text

    def test_is_empty_for_none(self):
        assert moment(None) == ""

    def test_is_the_only_format_of_the_panel(self):
        pages = (settings.BASE_DIR / "templates" / "panel").glob("*.html")

        assert [page.name for page in pages if OTHER_FORMAT.search(page.read_text())] == []


class TestTileName:
    @pytest.mark.parametrize(
        ("status", "count", "text"),
        [
            ("DELIVERED", 1, "Entregue"),
            ("DELIVERED", 30, "Entregues"),
            ("FAILED", 1, "Não entregue"),
            ("FAILED", 5, "Não entregues"),
            ("PENDING", 5, "Esperando entregador"),
        ],
    )
    def test_agrees_with_the_number(self, status, count, text):
        with translation.override("pt-br"):
            assert tile_name(status, count) == text

"""Moments on the pages of the panel."""

import re
from datetime import timedelta

import pytest
from django.conf import settings
from django.http import QueryDict
from django.utils import timezone, translation

from common.admin.accounts import named
from common.brazil.formats import age, moment
from common.files import csv_files
from common.pages.periods import Period
from delivery.models import Integrator, Transition
from panel.integrators.views.deliveries import Step
from panel.templatetags.panel import time_of_day
from panel.views.reports import PeriodForm
from tests.moments import at_each_midnight

OTHER_FORMAT = re.compile(r'\|(?:date:"SHORT_DATETIME_FORMAT"|time:"H:i:s")')


@at_each_midnight
class TestDayOfAMoment:
    """At 23:30 in the service's time zone, when it is the day after in UTC."""

    @pytest.mark.parametrize(
        ("language", "form"), [("en", "{0.day} {0:%b %Y}, 23:30"), ("pt-br", "{0:%d/%m/%Y} 23:30")]
    )
    def test_is_local_in_texts(self, midnight, language, form):
        text = form.format(midnight.eve)

        with translation.override(language):
            assert moment(midnight.before) == f"{text}:00"
            assert age(midnight.before, at=midnight.before + timedelta(days=30)) == text

    def test_is_local_in_a_history(self, midnight):
        assert Step(Transition(at=midnight.before), None).day == midnight.eve
        assert time_of_day(midnight.before) == "23:30:00"

    def test_is_local_in_a_csv_file(self, midnight):
        file = b"".join(csv_files.response("list", header=[], rows=[[midnight.before]])).decode()

        assert file.splitlines()[1] == f'"{midnight.eve} 23:30:00"'

    def test_is_local_for_a_suspension(self, midnight):
        with translation.override("pt-br"):
            assert f"· {midnight.eve:%d/%m}<" in named(Integrator(name="Loja", suspended_at=midnight.before))

    def test_is_local_for_the_month_of_a_report(self, midnight, monkeypatch):
        months = []
        for now in (midnight.before, midnight.after):
            monkeypatch.setattr(timezone, "now", lambda now=now: now)
            months.append(PeriodForm.of(QueryDict()).period)

        assert months == [Period.month_of(midnight.eve), Period.month_of(midnight.day)]


class TestMoment:
    def test_is_empty_for_none(self):
        assert moment(None) == ""

    def test_is_the_only_format_of_the_panel(self):
        pages = (settings.BASE_DIR / "templates" / "panel").glob("*.html")

        assert [page.name for page in pages if OTHER_FORMAT.search(page.read_text())] == []

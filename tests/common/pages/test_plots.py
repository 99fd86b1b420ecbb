"""The geometry and the texts of charts."""

import re
from datetime import date
from decimal import Decimal
from types import SimpleNamespace

import pytest
from django.template.loader import render_to_string

from common.pages.plots import Chart, Figure, Series
from tests.cases import in_turn

GOOD, BAD = Series("Received", "good"), Series("Failed", "bad")


def chart(rows, series=(GOOD, BAD), **options):
    return Chart.of("Attempts", heading="Hour", series=series, rows=rows, **options)


class TestFigure:
    @in_turn(
        ("now", "before", "options", "change"),
        [
            (12, 8, {}, ("+50 %", "")),
            (Decimal("7.50"), Decimal(10), {"better": 1}, ("\N{MINUS SIGN}25 %", "bad")),
            (8.04, 6.5, {"unit": "min", "better": -1}, ("+1.5 min", "bad")),
            (4.0, 6.0, {"unit": "min", "better": -1}, ("\N{MINUS SIGN}2 min", "good")),
            (1004, 1000, {}, ("unchanged", "")),
            (0, 8, {}, ("\N{MINUS SIGN}100 %", "")),
            (0.0, 6.5, {"unit": "min", "better": -1}, ("\N{MINUS SIGN}6.5 min", "good")),
            (6.5, 0.0, {"unit": "min", "better": -1}, ("+6.5 min", "bad")),
            (5, 0, {}, ("", "")),
            (5.0, None, {"unit": "min"}, ("", "")),
            (None, 5.0, {"unit": "min"}, ("", "")),
        ],
    )
    def test_says_how_it_differs(self, now, before, options, change):
        made = Figure.of("Deliveries", now, before, shown=str, **options)

        assert (made.text, (made.change, made.look)) == (str(now), change)

    def test_says_in_words_whether_the_change_is_good(self):
        period = SimpleNamespace(first=date(2026, 10, 1), last=date(2026, 10, 31))
        figures = [Figure.of("", 9, 6, better=better) for better in (1, -1, 0)]

        text = " ".join(render_to_string("panel/headline.html", {"headline": figures, "compared": period}).split())

        assert re.findall(r"\+50 %(, \w+|)", text) == [", better", ", worse", ""]


class TestChart:
    def test_scales_stacked_bars_to_the_end_of_its_scale(self):
        made = chart([("10:00", [3, 1]), ("11:00", [1, 0])])

        assert [[(bar.y, bar.height) for bar in column.bars] for column in made.columns] == [
            [(25, 75), (0, 25)],
            [(75, 25), (75, 0)],
        ]

    @pytest.mark.parametrize(
        ("most", "top"),
        [
            (0, "1"),
            (1, "1"),
            (Decimal("1.2"), "1.5"),
            (62, "80"),
            (Decimal("1697.60"), "2,000"),
            (Decimal("0.3"), "0.3"),
        ],
    )
    def test_has_a_scale_to_the_next_round_number(self, most, top):
        assert chart([("10:00", [most, 0])]).top == top

    def test_writes_zero_as_a_number_and_nothing_as_a_dash(self):
        (column,) = chart([("10:00", [0, None])]).columns

        assert column.values == ["0", "\N{EN DASH}"]

    def test_has_the_scale_that_it_is_given(self):
        made = chart([("10:00", [25, None])], top=100)

        assert (made.top, made.columns[0].bars[0].height) == ("100", 25)

    def test_says_the_values_of_a_column(self):
        made = chart([("10:00", [1500, None])], shown=lambda value: f"{value} ms")

        assert made.columns[0].text == "10:00 · Received: 1500 ms · Failed: –"  # as in the tables

    def test_sums_its_series_unless_they_cannot_be_summed(self):
        rows = [("10:00", [3, 1]), ("11:00", [1, 0])]

        assert chart(rows).totals == [(GOOD, "4"), (BAD, "1")]
        assert chart(rows, has_totals=False).totals == [(GOOD, ""), (BAD, "")]

    @pytest.mark.parametrize(("count", "labelled"), [(0, []), (4, [0, 1, 2, 3]), (31, [0, 8, 16, 24])])
    def test_labels_four_columns_at_most(self, count, labelled):
        made = chart([(str(number), [0, 0]) for number in range(count)])

        assert [number for number, column in enumerate(made.columns) if column.is_labelled] == labelled
        assert made.is_empty

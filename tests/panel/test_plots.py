"""The geometry and the texts of charts."""

import pytest

from panel.plots import Chart, Series

GOOD, BAD = Series("Received", "good"), Series("Failed", "bad")


def chart(rows, series=(GOOD, BAD), **options):
    return Chart.of("Attempts", heading="Hour", series=series, rows=rows, **options)


class TestChart:
    def test_scales_stacked_bars_to_the_largest_sum(self):
        made = chart([("10:00", [3, 1]), ("11:00", [1, 0])])

        assert [[(bar.y, bar.height) for bar in column.bars] for column in made.columns] == [
            [(25, 75), (0, 25)],
            [(75, 25), (75, 0)],
        ]
        assert made.most == "4"

    def test_says_the_values_of_a_column(self):
        made = chart([("10:00", [1500, None])], shown=lambda value: f"{value} ms")

        assert made.columns[0].text == "10:00 · Received: 1500 ms · Failed: –"  # as in the tables

    def test_sums_its_series_unless_they_cannot_be_summed(self):
        rows = [("10:00", [3, 1]), ("11:00", [1, 0])]

        assert chart(rows).totals == [(GOOD, "4"), (BAD, "1")]
        assert chart(rows, has_totals=False).totals == [(GOOD, ""), (BAD, "")]

    @pytest.mark.parametrize(("count", "labelled"), [(0, []), (6, [0, 1, 2, 3, 4, 5]), (24, [0, 4, 8, 12, 16, 20])])
    def test_labels_six_columns_at_most(self, count, labelled):
        made = chart([(str(number), [0, 0]) for number in range(count)])

        assert [number for number, column in enumerate(made.columns) if column.is_labelled] == labelled
        assert made.is_empty

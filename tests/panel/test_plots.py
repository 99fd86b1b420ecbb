"""The geometry of the plot of webhook attempts."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from panel import plots

NOW = datetime(2026, 11, 21, 12, 34, tzinfo=UTC)
HOUR = datetime(2026, 11, 21, 12, tzinfo=UTC)


def row(hours_ago, *, total, successes, p95):
    return {"hour": HOUR - timedelta(hours=hours_ago), "total": total, "successes": successes, "p95": p95}


class TestOfHours:
    def test_scales_bars_to_the_hour_with_the_most_attempts(self):
        plot = plots.of_hours(
            [row(0, total=4, successes=3, p95=200.4), row(2, total=2, successes=2, p95=100.2)], until=NOW, count=3
        )

        first, empty, last = plot.hours
        assert [hour.start for hour in plot.hours] == [HOUR - timedelta(hours=ago) for ago in (2, 1, 0)]
        assert [(hour.succeeded, hour.failed) for hour in plot.hours] == [(2, 0), (0, 0), (3, 1)]
        assert (plot.most, plot.slowest, plot.total) == (4, 200, 6)
        assert (last.succeeded_height, last.failed_height) == (plots.HEIGHT * 3 / 4, plots.HEIGHT / 4)
        assert last.failed_y == pytest.approx(plot.top)
        assert last.succeeded_y == pytest.approx(last.failed_y + last.failed_height)
        assert first.succeeded_y + first.succeeded_height == pytest.approx(plot.base)
        assert (first.p95_y, empty.p95_y) == (plot.lower_base - plots.HEIGHT / 2, None)
        assert last.p95_y == pytest.approx(plot.lower_top)

    def test_places_hours_side_by_side_within_the_drawing(self):
        plot = plots.of_hours([], until=NOW)

        assert len(plot.hours) == 24
        assert all(one.x + one.width < other.x for one, other in pairwise(plot.hours))
        assert plot.hours[0].x > plots.LEFT
        assert plot.hours[-1].x + plot.hours[-1].width < plot.right_edge

    def test_interrupts_the_line_in_hours_without_attempts(self):
        rows = [row(ago, total=1, successes=1, p95=50.0) for ago in (0, 1, 3)]

        plot = plots.of_hours(rows, until=NOW, count=5)

        assert [len(line.split(" ")) for line in plot.lines] == [1, 2]

    @pytest.mark.parametrize(("total", "successes", "percent"), [(0, 0, 100), (3, 0, 0), (3, 3, 100), (4, 3, 75)])
    def test_tells_the_share_of_successful_attempts(self, total, successes, percent):
        rows = [row(0, total=total, successes=successes, p95=1.0)] if total else []

        assert plots.of_hours(rows, until=NOW).success_percent == percent

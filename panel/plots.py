"""Charts of the pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import localize

# Labels below a chart that have room beside each other on a phone.
_MOST_LABELS = 6


@dataclass(frozen=True)
class Series:
    """What a bar stands for. `look` is its class in charts.css: good, bad, warn or info."""

    name: Any
    look: str


@dataclass(frozen=True)
class Bar:
    """`y` and `height` in percent of the height of the chart, from above."""

    look: str
    y: float
    height: float


@dataclass(frozen=True)
class Column:
    """One label with a value for each series, as text too, and their bars one on top of the other."""

    x: float
    label: str
    is_labelled: bool
    values: list[str]
    text: str
    bars: list[Bar]


@dataclass(frozen=True)
class Chart:
    """Stacked bars, for the template panel/chart.html. `totals` has the sum of each series as text."""

    title: Any
    heading: Any
    series: list[Series]
    columns: list[Column]
    most: str
    totals: list[tuple[Series, str]]
    is_empty: bool

    @classmethod
    def of(
        cls,
        title: Any,
        *,
        heading: Any,
        series: Sequence[Series],
        rows: Sequence[tuple[str, Sequence[Any]]],
        shown: Callable[[Any], str] = localize,
        has_totals: bool = True,
    ) -> "Chart":
        """`rows` have a label and a number for each series, None for none. `heading` names the labels in the table.

        `shown` writes a number; without `has_totals` the legend has names only.
        """
        sums = [sum(value or 0 for value in values) for _label, values in rows]
        most = max(sums, default=0)
        every = -(-len(rows) // _MOST_LABELS) or 1
        columns = [
            _column(number, label, values, series, most=most or 1, shown=shown, is_labelled=number % every == 0)
            for number, (label, values) in enumerate(rows)
        ]
        totals = [sum(values[number] or 0 for _label, values in rows) for number in range(len(series))]
        legend = [(each, shown(whole) if has_totals else "") for each, whole in zip(series, totals, strict=True)]
        return cls(title, heading, list(series), columns, shown(most), legend, is_empty=not any(sums))


def _column(
    number: int,
    label: str,
    values: Sequence[Any],
    series: Sequence[Series],
    *,
    most: Any,
    shown: Callable[[Any], str],
    is_labelled: bool,
) -> Column:
    bars, below = [], 0.0
    for each, value in zip(series, values, strict=True):
        height = 100 * float(value or 0) / float(most)
        below += height
        bars.append(Bar(each.look, 100 - below, height))
    texts = ["–" if value is None else shown(value) for value in values]  # noqa: RUF001  # as in the tables
    named = [f"{each.name}: {text}" for each, text in zip(series, texts, strict=True)]
    return Column(number + 0.1, label, is_labelled, texts, " · ".join([label, *named]), bars)

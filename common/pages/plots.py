"""Charts of the pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, log10
from typing import Any

from django.utils.formats import localize
from django.utils.translation import gettext

from common.brazil import formats

# Labels below a chart that have room beside each other on a phone.
_MOST_LABELS = 4
# A scale ends at one of these times a power of ten.
_ROUND = (1, 1.5, 2, 3, 4, 5, 6, 8, 10)


@dataclass(frozen=True)
class Series:
    """What a bar stands for. `look` is its class in charts.css: good, bad, warn, info or none."""

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
    """Stacked bars, for the template panel/chart.html.

    `top` is the end of its scale as text, `totals` has the sum of each series as text.
    """

    title: Any
    heading: Any
    series: list[Series]
    columns: list[Column]
    top: str
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
        shown: Callable[[Any], str] = formats.number,
        has_totals: bool = True,
        top: float | None = None,
    ) -> "Chart":
        """`rows` have a label and a number for each series, None for none. `heading` names the labels in the table.

        `shown` writes a number; without `has_totals` the legend has names only. `top`: where the scale ends, else the
        first round number above all sums.
        """
        sums = [sum(value or 0 for value in values) for _label, values in rows]
        top = _round_above(max(sums, default=0)) if top is None else top
        every = -(-len(rows) // _MOST_LABELS) or 1
        columns = [
            _column(number, label, values, series, top=top, shown=shown, is_labelled=number % every == 0)
            for number, (label, values) in enumerate(rows)
        ]
        totals = [sum(values[number] or 0 for _label, values in rows) for number in range(len(series))]
        legend = [(each, shown(whole) if has_totals else "") for each, whole in zip(series, totals, strict=True)]
        return cls(title, heading, list(series), columns, shown(top), legend, is_empty=not any(sums))


def _round_above(most: Any) -> float:
    """The least round number that is not below `most`."""
    if most <= 0:
        return 1
    power = 10 ** floor(log10(most))
    found = next(each * power for each in _ROUND if each * power >= most)
    return int(found) if found == int(found) else found


def _column(
    number: int,
    label: str,
    values: Sequence[Any],
    series: Sequence[Series],
    *,
    top: float,
    shown: Callable[[Any], str],
    is_labelled: bool,
) -> Column:
    bars, below = [], 0.0
    for each, value in zip(series, values, strict=True):
        height = 100 * float(value or 0) / top
        below += height
        bars.append(Bar(each.look, 100 - below, height))
    texts = ["–" if value is None else shown(value) for value in values]  # noqa: RUF001  # as in the tables
    named = [f"{each.name}: {text}" for each, text in zip(series, texts, strict=True)]
    return Column(number + 0.1, label, is_labelled, texts, " · ".join([label, *named]), bars)


@dataclass(frozen=True)
class Figure:
    """A figure of a report, for the template panel/headline.html, and how it differs from that of the period before.

    `change` is empty where there is nothing to compare with. `look`: good, bad, or empty where more is neither.
    """

    name: Any
    text: str
    change: str = ""
    look: str = ""

    @classmethod
    def of(
        cls,
        name: Any,
        now: Any,
        before: Any,
        *,
        shown: Callable[[Any], str] = formats.number,
        unit: Any = "%",
        better: int = 0,
    ) -> "Figure":
        """`shown` writes a figure. The difference is in percent of the one before, or in another `unit` as it is.

        `better`: 1 if more is better, -1 if less is.
        """
        if now is None or before is None or (unit == "%" and not before):
            return cls(name, shown(now))
        is_share = unit == "%"
        difference = round(100 * (now - before) / before if is_share else now - before, 0 if is_share else 1)
        if not difference:
            return cls(name, shown(now), gettext("unchanged"))
        sign = "+" if difference > 0 else "\N{MINUS SIGN}"
        look = "good" if difference * better > 0 else "bad" if better else ""
        return cls(name, shown(now), f"{sign}{localize(_plain(abs(difference)))} {unit}", look)


def _plain(value: Any) -> float:
    """A whole number without its fraction."""
    return int(value) if value == int(value) else float(value)

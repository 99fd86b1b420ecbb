from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from delivery.hours import timetable as hours
from delivery.hours.timetable import HORIZON, Day, InvalidDayOff, InvalidSpan, Span, SpansOverlap, Timetable

SAO_PAULO, MANAUS = ZoneInfo("America/Sao_Paulo"), ZoneInfo("America/Manaus")
SANTIAGO = ZoneInfo("America/Santiago")  # its clocks are set at midnight: forward on 2026-09-06, back on 2026-04-05
LORD_HOWE = ZoneInfo("Australia/Lord_Howe")  # by half an hour
MINUTE, DAY = timedelta(minutes=1), timedelta(days=1)
NEVER: tuple[hours.Spans, ...] = ((),) * 7


def weekly(text, zone=SAO_PAULO, **others):
    return Timetable(zone, (hours.parse_spans(text),) * 7, **others)


def opens(timetable, local):
    """What `opens_at` says for a local time, as a local time."""
    found = timetable.opens_at(datetime.fromisoformat(local).replace(tzinfo=timetable.zone))
    return found and found.astimezone(timetable.zone).isoformat(timespec="minutes")


class TestOpensAt:
    @pytest.mark.parametrize(
        ("spans", "at", "expected"),
        [
            ("08:00-18:00", "2026-11-24T07:59:59", "2026-11-24T08:00-03:00"),
            ("08:00-18:00", "2026-11-24T08:00:00", "2026-11-24T08:00-03:00"),
            ("08:00-18:00", "2026-11-24T17:59:00", "2026-11-24T17:59-03:00"),
            ("08:00-18:00", "2026-11-24T18:00:00", "2026-11-25T08:00-03:00"),
            ("08:00-12:00, 13:00-18:00", "2026-11-24T12:00:00", "2026-11-24T13:00-03:00"),
            ("22:00-02:00", "2026-11-24T01:59:00", "2026-11-24T01:59-03:00"),
            ("22:00-02:00", "2026-11-24T02:00:00", "2026-11-24T22:00-03:00"),
            ("00:00-24:00", "2026-11-24T23:59:00", "2026-11-24T23:59-03:00"),
            ("00:00-24:00", "2026-11-25T00:00:00", "2026-11-25T00:00-03:00"),
        ],
    )
    def test_is_the_first_open_moment(self, spans, at, expected):
        assert opens(weekly(spans), at) == expected

    def test_goes_by_the_day_of_the_week_on_which_a_span_begins(self):
        friday = Timetable(SAO_PAULO, ((), (), (), (), (Span(22 * 60, 26 * 60),), (), ()))

        assert opens(friday, "2026-11-28T01:00:00") == "2026-11-28T01:00-03:00"  # Saturday
        assert opens(friday, "2026-11-28T02:00:00") == "2026-12-04T22:00-03:00"

    def test_goes_by_the_clocks_of_its_zone(self):
        at = datetime(2026, 11, 24, 11, 30, tzinfo=UTC)

        assert weekly("08:00-18:00").opens_at(at) == at
        assert weekly("08:00-18:00", MANAUS).opens_at(at) == at + 30 * MINUTE

    def test_is_none_if_none_is_within_60_days(self):
        at = datetime(2026, 11, 24, 12, tzinfo=UTC)
        days_off = {date(2026, 11, 23) + number * DAY: Day((), "Strike") for number in range(62)}

        assert Timetable(SAO_PAULO, NEVER).opens_at(at) is None
        assert weekly("09:00-10:00", days_off=days_off).opens_at(at) is None
        del days_off[date(2027, 1, 23)]
        assert weekly("09:00-10:00", days_off=days_off).opens_at(at) == at + HORIZON
        assert weekly("09:01-10:00", days_off=days_off).opens_at(at) is None

    @pytest.mark.parametrize(
        ("spans", "at", "expected"),
        [
            # At 24:00 of the 5th clocks show 01:00.
            ("00:30-02:00", "2026-09-05T23:00:00", "2026-09-06T01:00-03:00"),
            ("00:15-00:45, 03:00-04:00", "2026-09-05T23:59:00", "2026-09-06T03:00-03:00"),
            ("22:00-00:30", "2026-09-06T01:00:00", "2026-09-06T22:00-03:00"),
            # At 24:00 of the 4th clocks show 23:00.
            ("08:00-23:30", "2026-04-04T23:29:00", "2026-04-04T23:29-03:00"),
            ("08:00-23:30", "2026-04-04T23:30:00", "2026-04-05T08:00-04:00"),
            ("23:30-23:45", "2026-04-04T23:50:00", "2026-04-05T23:30-04:00"),
            ("08:00-24:00", "2026-04-04T23:59:00", "2026-04-04T23:59-03:00"),
        ],
    )
    def test_goes_by_clocks_that_are_set(self, spans, at, expected):
        assert opens(weekly(spans, SANTIAGO), at) == expected

    def test_is_open_through_both_of_two_equal_hours(self):
        first, second = (datetime(2026, 4, 4, 23, 30, fold=fold, tzinfo=SANTIAGO) for fold in (0, 1))
        timetable = weekly("08:00-24:00", SANTIAGO)

        assert (second - first, second.astimezone(UTC) - first.astimezone(UTC)) == (timedelta(), 60 * MINUTE)
        assert [timetable.opens_at(at.astimezone(UTC)) for at in (first, second)] == [
            at.astimezone(UTC) for at in (first, second)
        ]


class TestDay:
    timetable = weekly(
        "08:00-18:00",
        days_off=hours.parse_days_off("2026-12-24 08:00-12:00 Eve\n2026-12-25 10:00-12:00 Own"),
        closed_on_holidays=True,
    )

    @pytest.mark.parametrize(
        ("day", "expected"),
        [
            ("2026-12-23", Day((Span(480, 1080),))),
            ("2026-12-24", Day((Span(480, 720),), "Eve")),
            ("2026-12-25", Day((Span(600, 720),), "Own")),  # instead of the holiday
            ("2027-01-01", Day((), is_holiday=True)),
        ],
    )
    def test_is_that_of_its_day_off_or_holiday(self, day, expected):
        assert self.timetable.day(date.fromisoformat(day)) == expected

    def test_is_that_of_the_week_on_a_holiday_unless_it_is_closed_then(self):
        assert weekly("08:00-18:00").day(date(2026, 12, 25)) == Day((Span(480, 1080),))

    def test_leaves_the_night_before_a_day_off_as_it_is(self):
        nights = weekly("22:00-02:00", days_off={date(2026, 12, 25): Day((), "Christmas")})

        assert opens(nights, "2026-12-25T01:00:00") == "2026-12-25T01:00-03:00"
        assert opens(nights, "2026-12-25T02:00:00") == "2026-12-26T22:00-03:00"


def first_reached(zone, around, wall):
    """The first minute at which clocks show `wall` or more, by asking each minute."""
    at = around
    while at.astimezone(zone).replace(tzinfo=None) < wall:
        at += MINUTE
    return at


def first_open(timetable, at, *, days):
    """The first open minute from `at` on, by going through them; the days before and after are looked at too."""
    first = at.astimezone(timetable.zone).date()
    for number in range(-2, days + 2):
        day = first + number * DAY
        for span in timetable.day(day).spans:
            midnight = datetime.combine(day, time())
            minute = first_reached(
                timetable.zone, midnight.replace(tzinfo=UTC) - 15 * 60 * MINUTE, midnight + span.opens * MINUTE
            )
            while minute.astimezone(timetable.zone).replace(tzinfo=None) < midnight + span.closes * MINUTE:
                if minute >= at:
                    return minute
                minute += MINUTE
    return None


_TIMES = st.integers(0, 47).map(lambda half: half * 30)
_SPANS = st.tuples(_TIMES, st.integers(1, 48)).map(lambda pair: (Span(pair[0], pair[0] + pair[1] * 30),))
_DAYS = st.one_of(st.just(()), _SPANS)
# Days before and after the clocks are set.
_CHANGES = [
    (SANTIAGO, datetime(2026, 4, 5, 3, tzinfo=UTC)), (SANTIAGO, datetime(2026, 9, 6, 4, tzinfo=UTC)),
    (SAO_PAULO, datetime(2018, 11, 4, 3, tzinfo=UTC)), (SAO_PAULO, datetime(2019, 2, 17, 2, tzinfo=UTC)),
    (LORD_HOWE, datetime(2026, 4, 4, 15, tzinfo=UTC)), (LORD_HOWE, datetime(2026, 10, 3, 15, 30, tzinfo=UTC)),
]  # fmt: skip  # a table


class TestAnyTimetable:
    @given(
        change=st.sampled_from(_CHANGES), week=st.lists(_DAYS, min_size=7, max_size=7), minutes=st.integers(-1500, 1500)
    )
    @example(change=_CHANGES[1], week=[(Span(0, 30),)] * 7, minutes=-30)
    @example(change=_CHANGES[0], week=[(Span(1380, 1410),)] * 7, minutes=-30)
    def test_opens_at_the_first_minute_that_a_search_finds(self, change, week, minutes):
        zone, moment = change
        at, timetable = moment + minutes * MINUTE, Timetable(zone, week)

        expected = first_open(timetable, at, days=9)

        assert timetable.opens_at(at) == expected

    @given(spans=st.lists(st.tuples(st.integers(0, 1439), st.integers(1, 1439)), max_size=8))
    def test_reads_what_it_writes(self, spans):
        text = hours.write_spans(tuple(Span(opens, opens + length) for opens, length in spans))
        try:
            parsed = hours.parse_spans(text)
        except SpansOverlap:
            return

        assert parsed == tuple(sorted(Span(opens, opens + length) for opens, length in spans))


def several_spans(count):
    return ", ".join(f"{hour:02}:00-{hour:02}:30" for hour in range(count))


class TestParseSpans:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", ""),
            (" ", ""),
            ("8:00 – 12:00,13:00-18:00", "08:00-12:00, 13:00-18:00"),
            ("13:00-18:00, 08:00-12:00", "08:00-12:00, 13:00-18:00"),
            ("08:00-12:00, 12:00-18:00", "08:00-12:00, 12:00-18:00"),
            ("00:00-24:00", "00:00-24:00"),
            ("22:00-00:00", "22:00-24:00"),
            ("22:00-02:00", "22:00-02:00"),
            (several_spans(6), several_spans(6)),
        ],
    )
    def test_accepts(self, text, expected):
        assert hours.write_spans(hours.parse_spans(text)) == expected

    @pytest.mark.parametrize(
        "text", ["8-18", "08:00", "08:00-25:00", "08:00-08:00", "24:00-08:00", "08:00-12:00;13:00-18:00", "08:60-09:00"]
    )
    def test_names_what_is_no_span(self, text):
        with pytest.raises(InvalidSpan) as refused:
            hours.parse_spans(f"01:00-02:00, {text}")

        assert str(refused.value) == text

    @pytest.mark.parametrize(
        "text", ["08:00-12:00, 11:59-13:00", "20:00-02:00, 21:00-22:00", several_spans(7), "9" * 201]
    )
    def test_refuses_spans_that_overlap_and_too_many(self, text):
        with pytest.raises(SpansOverlap):
            hours.parse_spans(text)


def several_days(count):
    return "\n".join(f"{date(2026, 1, 1) + number * DAY} {'x' * 60}" for number in range(count))


class TestParseDaysOff:
    def test_takes_a_hundred_with_names_of_sixty_characters(self):
        assert hours.write_days_off(hours.parse_days_off(several_days(100))) == several_days(100)

    def test_sorts_lines_and_takes_dates_of_both_notations(self):
        text = "25/12/2026 Natal\n\n2026-12-24  08:00-12:00, 13:00-15:00   Véspera de Natal \r\n2026-12-31 7 Sete 8:00"

        assert hours.write_days_off(hours.parse_days_off(text)) == (
            "2026-12-24 08:00-12:00, 13:00-15:00 Véspera de Natal\n2026-12-25 Natal\n2026-12-31 7 Sete 8:00"
        )

    @pytest.mark.parametrize(
        "text",
        [
            "Natal", "2026-12-25", "2026-12-25 08:00-12:00", "2026-02-30 X", "12/25/2026 X", "2026-12-24x X",
            "2026-12-25 " + "x" * 61,
            "2026-12-25 X\n25/12/2026 Y", several_days(101),
        ],
    )  # fmt: skip  # a list
    def test_refuses(self, text):
        with pytest.raises(InvalidDayOff):
            hours.parse_days_off(text)

    def test_names_what_is_no_span(self):
        with pytest.raises(InvalidSpan, match="8:00-25:00"):
            hours.parse_days_off("2026-12-25 8:00-25:00 X")

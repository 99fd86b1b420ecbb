"""Values on pages, in both languages."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pytest
from django.utils import translation
from django.utils.formats import localize
from django.utils.timezone import localtime
from hypothesis import example, given
from hypothesis import strategies as st

from common.actors import actor_name
from common.brazil import formats
from common.measures import CENTAVOS, rise
from tests.money import half_up

AT = datetime(2026, 11, 22, 13, 28, 5, tzinfo=UTC)


class TestMoney:
    @pytest.mark.parametrize(("language", "text"), [("pt-br", "R$ 19.466,30"), ("en", "R$ 19,466.30")])
    def test_has_two_places_and_groups(self, language, text):
        with translation.override(language):
            assert formats.money(Decimal("19466.3000")) == text
            assert formats.centavos(1946630) == text

    @given(st.decimals(0, 10**9, places=4))
    @example(Decimal("0.005"))
    @example(Decimal("5.125"))  # 5.12 if halves were rounded to even
    @example(Decimal("1.005"))  # a little less as a binary float
    def test_is_rounded_half_up(self, amount):
        with translation.override("en"):
            assert formats.money(amount) == f"R$ {half_up(Fraction(amount)):,}"

    @given(st.integers(0, 10**12))
    def test_keeps_every_centavo(self, centavos):
        text = f"R$ {centavos // 100:,}.{centavos % 100:02}"

        with translation.override("en"):
            assert (formats.centavos(centavos), CENTAVOS.write(centavos)) == (text, text)


class TestRise:
    @pytest.mark.parametrize(
        ("old", "new", "percent"),
        [(200, 203, 2), (200, 205, 2), (1000, 1006, 1), (1000, 994, -1), (1000, 1004, 0), (3, 4, 33), (0, 1, None)],
    )
    def test_is_in_whole_percent_with_halves_to_the_even_one(self, old, new, percent):
        assert rise(old, new) == percent


class TestDates:
    @pytest.mark.parametrize(("language", "text"), [("pt-br", "22/11/2026 10:28"), ("en", "22 Nov 2026, 10:28")])
    def test_are_short_and_have_24_hours(self, language, text):
        with translation.override(language):
            assert localize(localtime(AT)) == text


class TestAge:
    @pytest.mark.parametrize(
        ("passed", "portuguese", "english"),
        [
            (timedelta(), "há 0 s", "0 s ago"),
            (timedelta(seconds=59, milliseconds=999), "há 59 s", "59 s ago"),
            (timedelta(minutes=1), "há 1 min", "1 min ago"),
            (timedelta(minutes=60), "há 1 h", "1 h ago"),
            (timedelta(seconds=544), "há 9 min", "9 min ago"),
            (timedelta(hours=47, minutes=59), "há 47 h", "47 h ago"),
            (timedelta(days=2), "há 2 dias", "2 days ago"),
            (timedelta(days=30), "23/10/2026 10:28", "23 Oct 2026, 10:28"),
            (timedelta(seconds=-1), "22/11/2026 10:28", "22 Nov 2026, 10:28"),
        ],
    )
    def test_is_in_the_largest_unit_that_is_whole(self, passed, portuguese, english):
        with translation.override("pt-br"):
            assert formats.age(AT - passed, at=AT) == portuguese
        with translation.override("en"):
            assert formats.age(AT - passed, at=AT) == english


@pytest.mark.parametrize(
    ("write", "value", "text"),
    [
        (formats.document, "11222333000181", "11.222.333/0001-81"),
        (formats.document, "12ABC34501DE35", "12.ABC.345/01DE-35"),  # pragma: allowlist secret
        (formats.document, "52998224725", "529.982.247-25"),
        (formats.document, "DE 123", "DE 123"),
        (formats.postcode, "01304000", "01304-000"),
        (formats.postcode, "01.304 000", "01304-000"),
        (formats.postcode, "1304", "1304"),
        (formats.short_id, "01a202e4-bd22-7445-9674-3cfc1cd8ef90", "…d8ef90"),
    ],
)
def test_texts_with_a_known_form_get_their_signs(write, value, text):
    assert write(value) == text


class TestActorName:
    @pytest.mark.parametrize(
        ("actor", "text"),
        [
            ("user ana", "ana"),
            ("key rota_key_…abcd", "chave rota_key_…abcd"),
            ("token rota_live_…abcd", "token rota_live_…abcd"),
            ("system: offer deadline", "prazo da oferta"),
            ("demo", "demo"),
        ],
    )
    def test_names_the_kind_in_the_readers_language(self, actor, text):
        with translation.override("pt-br"):
            assert actor_name(actor) == text


class TestOpening:
    """As seen on Sunday 22 November at 10:28, and at 08:28 in Rio Branco."""

    @pytest.mark.parametrize(
        ("at", "zone", "text"),
        [
            ("2026-11-29T02:59Z", None, "Sat 23:59"),
            ("2026-11-29T03:00Z", None, "Sun 29 Nov 2026, 00:00"),
            ("2026-11-29T03:30Z", "America/Rio_Branco", "Sat 22:30"),
            ("2026-11-29T05:00Z", "America/Rio_Branco", "Sun 29 Nov 2026, 00:00"),
        ],
    )
    def test_has_its_date_from_the_same_weekday_on(self, monkeypatch, at, zone, text):
        monkeypatch.setattr("common.clock.now", lambda: AT)

        with translation.override("en"):
            assert formats.opening(datetime.fromisoformat(at), zone and ZoneInfo(zone)) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 min"),
        (1, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (3599, "59 min"),
        (3600, "1 h 0 min"),
        (90_000, "25 h 0 min"),
    ],
)
def test_a_duration_has_hours_beyond_a_day_and_seconds_below_a_minute_only(seconds, text):
    assert formats.duration(timedelta(seconds=seconds)) == text


class TestUntil:
    @pytest.mark.parametrize(
        ("left", "english", "portuguese"),
        [
            (timedelta(seconds=-3), "in 0 s", "em 0 s"),
            (timedelta(seconds=11, microseconds=1), "in 12 s", "em 12 s"),
            (timedelta(minutes=1), "in 1 min", "em 1 min"),
            (timedelta(minutes=3, seconds=1), "in 4 min", "em 4 min"),
            (timedelta(minutes=59, seconds=1), "in 1 h 0 min", "em 1 h 0 min"),
            (timedelta(hours=47, minutes=59), "in 47 h 59 min", "em 47 h 59 min"),
        ],
    )
    def test_rounds_up(self, left, english, portuguese):
        for language, text in (("en", english), ("pt-br", portuguese)):
            with translation.override(language):
                assert formats.until(AT + left, at=AT) == text

    def test_is_the_moment_itself_after_two_days(self):
        assert formats.until(AT + timedelta(days=2), at=AT) == localize(localtime(AT + timedelta(days=2)))

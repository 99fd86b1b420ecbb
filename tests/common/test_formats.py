"""Values on pages, in both languages."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.utils import translation
from django.utils.formats import localize
from django.utils.timezone import localtime

from common import formats
from common.actors import actor_name

AT = datetime(2026, 11, 22, 13, 28, 5, tzinfo=UTC)


class TestMoney:
    @pytest.mark.parametrize(("language", "text"), [("pt-br", "R$ 19.466,30"), ("en", "R$ 19,466.30")])
    def test_has_two_places_and_groups(self, language, text):
        with translation.override(language):
            assert formats.money(Decimal("19466.3000")) == text
            assert formats.centavos(1946630) == text


class TestDates:
    @pytest.mark.parametrize(("language", "text"), [("pt-br", "22/11/2026 10:28"), ("en", "22 Nov 2026, 10:28")])
    def test_are_short_and_have_24_hours(self, language, text):
        with translation.override(language):
            assert localize(localtime(AT)) == text


class TestAge:
    @pytest.mark.parametrize(
        ("passed", "portuguese", "english"),
        [
            (timedelta(seconds=40), "há 40 s", "40 s ago"),
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
        (formats.postcode, "1304", "1304"),
        (formats.phone, "+55 11 97777-0001", "(11) 97777-0001"),
        (formats.phone, "5511977770001", "(11) 97777-0001"),
        (formats.phone, "1133330000", "(11) 3333-0000"),
        (formats.phone, "55 3333-0000", "(55) 3333-0000"),
        (formats.phone, "+1 415 555 0100", "+1 415 555 0100"),
        (formats.phone, "ask for Ana", "ask for Ana"),
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

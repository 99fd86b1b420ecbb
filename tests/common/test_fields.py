"""Texts composed, and without case and accents, in Python and in SQL."""

import unicodedata

import pytest

from common.fields import _ACCENTED, Folded, folded, spellings
from delivery.models import Driver
from tests.factories import DriverFactory


class TestFolded:
    @pytest.mark.parametrize(("text", "plain"), [
        ("São Bento", "sao bento"), ("JOÃO", "joao"), ("Conceição", "conceicao"), ("order-1", "order-1"), ("ß", "ß"),
        ("Sa\u0303o Bento", "sao bento"),
    ])  # fmt: skip  # a table
    def test_has_neither_case_nor_accents(self, text, plain):
        assert folded(text) == plain

    def test_is_the_same_in_sql(self, db):
        texts = [*_ACCENTED, "São Bento", "Sa\u0303o Bento", "ORDER-1 %_\\"]
        for text in texts:
            DriverFactory.create(name=text)

        found = dict(Driver.objects.annotate(plain=Folded("name")).values_list("name", "plain"))

        assert found == {text: folded(text) for text in texts}


class TestSpellings:
    @pytest.mark.parametrize(
        ("text", "found"),
        [
            ("A-1", {"A-1"}),
            ("\u00e9", {"\u00e9", "e\u0301"}),
            ("e\u0301", {"\u00e9", "e\u0301"}),
            ("\u00e9e\u0301", {"\u00e9e\u0301", "\u00e9\u00e9", "e\u0301e\u0301"}),
        ],
        ids=["plain", "composed", "decomposed", "mixed"],
    )
    def test_are_the_text_itself_first_and_both_forms(self, text, found):
        first, *_others = listed = spellings(text)

        assert (first, {*listed}, len(listed)) == (text, found, len(found))


class TestComposed:
    @pytest.mark.parametrize("wanted", ["Luís", "Lui\u0301s"])
    def test_finds_each_form_of_a_text_by_each(self, db, wanted):
        names = {DriverFactory.create(name=unicodedata.normalize(form, "Luís")).name for form in ("NFC", "NFD")}

        assert len(names) == 2
        for lookup, value in (("", wanted), ("__icontains", wanted[2:]), ("__in", [wanted])):
            found = Driver.objects.filter(**{f"name__composed{lookup}": value})
            assert {driver.name for driver in found} == names

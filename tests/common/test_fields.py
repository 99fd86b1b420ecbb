"""Texts without case and accents, in Python and in SQL."""

import pytest

from common.fields import _ACCENTED, Folded, folded
from delivery.models import Driver
from tests.factories import DriverFactory


class TestFolded:
    @pytest.mark.parametrize(("text", "plain"), [
        ("São Bento", "sao bento"), ("JOÃO", "joao"), ("Conceição", "conceicao"), ("order-1", "order-1"), ("ß", "ß"),
    ])  # fmt: skip  # a table
    def test_has_neither_case_nor_accents(self, text, plain):
        assert folded(text) == plain

    def test_is_the_same_in_sql(self, db):
        texts = [*_ACCENTED, "São Bento", "ORDER-1 %_\\"]
        for text in texts:
            DriverFactory.create(name=text)

        found = dict(Driver.objects.annotate(plain=Folded("name")).values_list("name", "plain"))

        assert found == {text: folded(text) for text in texts}

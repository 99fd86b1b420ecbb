import pytest

from common.shops import street_lines
from tests.cases import in_turn


@in_turn(
    ("line", "found"),
    [
        ("Rua Chile, 21", ("Rua Chile", "21", "")),
        ("Rua Chile , 21", ("Rua Chile", "21", "")),
        ("Rua Chile, nº 21-B, apto 302", ("Rua Chile", "21-B", "apto 302")),
        ("Av. 7 de Setembro, 1500 - sala 3", ("Av. 7 de Setembro", "1500", "sala 3")),
        ("Rua Chile, 21 - Centro", ("Rua Chile", "21", "Centro")),
        ("Rua Chile, s/n", ("Rua Chile", "s/n", "")),
        ("Rua Chile, sem número", ("Rua Chile", "sem número", "")),
        ("Rua das Flores 21", ("Rua das Flores", "21", "")),
        ("Rua 21", ("Rua 21", "", "")),
        ("Rodovia BR 324", ("Rodovia BR 324", "", "")),
        ("Rodovia BA-093 km 12", ("Rodovia BA-093 km 12", "", "")),
        ("Conjunto Sol Quadra 10", ("Conjunto Sol Quadra 10", "", "")),
        ("Rua Chile, perto do elevador", ("Rua Chile, perto do elevador", "", "")),
        ("Rua Chile", ("Rua Chile", "", "")),
        ("Rua Chile, 1234567", ("Rua Chile, 1234567", "", "")),
        (", 21", (", 21", "", "")),
        ("", ("", "", "")),
    ],
)
def test_a_number_is_taken_from_the_line_only_for_sure(line, found):
    assert street_lines.split(line) == found


@pytest.mark.parametrize(
    ("line", "known", "found"),
    [
        ("Rua Chile", "21", ("Rua Chile", "21", "")),
        ("Rua Chile, 21", "21", ("Rua Chile", "21", "")),
        ("Rua Chile, 21, apto 3", "21", ("Rua Chile", "21", "apto 3")),
        ("Rua Chile, 9", "21", ("Rua Chile, 9", "21", "")),
    ],
)
def test_a_number_that_the_platform_has_apart_is_the_number(line, known, found):
    assert street_lines.split(line, known) == found


@pytest.mark.parametrize(
    ("shown", "is_one"),
    [
        ("529.982.247-25", True),
        ("52998224725", True),
        ("11.222.333/0001-81", True),
        ("5299822472", False),
        ("apto 52998224725", False),
        ("", False),
        ("٥٢٩٩٨٢٢٤٧٢٥", False),
    ],
)
def test_a_document_is_recognised_by_its_digits(shown, is_one):
    assert street_lines.is_document(shown) is is_one

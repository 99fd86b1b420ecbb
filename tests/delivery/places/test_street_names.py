"""Names of streets as people, shops and IBGE write them."""

import pytest

from delivery.places.street_names import kilometre, read
from tests.cases import in_turn


class TestTheKeyOfAStreet:
    @in_turn(
        "spellings",
        [
            ("Rua Augusta", "R. Augusta", "r.augusta", "AUGUSTA", "Rua  Augústa"),
            ("Avenida Doutor Arnaldo", "Av. Dr. Arnaldo", "AV DR ARNALDO", "Av Arnaldo"),
            ("Rua Quinze de Novembro", "R. XV de Novembro", "15 de novembro", "Rua 15 Novembro"),
            ("Avenida Vinte e Três de Maio", "Av. 23 de Maio"),
            ("Rua Primeiro de Maio", "Rua 1º de Maio", "R. 1o de Maio", "Rua 01 de Maio"),
            ("Rua Dom Pedro Segundo", "R. D. Pedro II", "Rua Pedro 2º"),
            ("Rua São Bento", "R. S. Bento", "RUA SAO BENTO"),
            ("Avenida Santa Catarina", "Av. Sta. Catarina"),
            ("Rua Nossa Senhora da Penha", "R. N. Sra. da Penha", "Rua Nsa. Sra. Penha"),
            ("Avenida Engenheiro Luís Carlos Berrini", "Av. Eng. Luiz Carlos Berrini"),
            ("Rua Marechal Deodoro", "R. Mal. Deodoro", "Rua Deodoro"),
            ("Rua Coronel Xavier de Toledo", "R. Cel. Xavier de Toledo"),
            ("Rua General Osório", "R. Gal. Osorio", "R. Gen. Osório"),
            ("Rua Professora Thereza Mello", "R. Profa. Teresa Melo"),
            ("Travessa Padre Manoel", "Tv. Pe. Manoel"),
            ("Alameda Santos", "Al. Santos"),
            ("Praça da Sé", "Pça. da Sé", "Pc da Sé"),
        ],
    )
    def test_is_the_same_for_all_spellings(self, spellings):
        assert len({read(each).key for each in spellings}) == 1

    @pytest.mark.parametrize(
        ("one", "other"),
        [
            ("Rua I", "Rua V"), ("Rua 1", "Rua 10"), ("Rua Doutor", "Rua Professor"), ("Rua D", "Rua E"),
            ("Rua São Bento", "Rua Bento"), ("Rua Vinte", "Rua Vinte e Um"), ("BR-116", "BR-101"), ("Rua V", "Rua 5"),
        ],
    )  # fmt: skip  # a list
    def test_differs_for_different_streets(self, one, other):
        assert read(one).key != read(other).key

    def test_has_no_kind_and_no_titles_but_the_whole_name_has(self):
        assert read("Av. Dr. Arnaldo") == read("avenida doutor arnaldo")
        assert read("Av. Dr. Arnaldo").whole != read("Av. Arnaldo").whole
        assert (read("Av. Paulista").kind, read("Paulista").kind) == ("avenida", "")

    def test_is_empty_without_a_name(self):
        assert read("").key == read(" .,- ").key == ""


class TestKilometre:
    @pytest.mark.parametrize(
        ("text", "metres"),
        [
            ("km 22", 22_000), ("KM 22,5", 22_500), ("Km. 3,25", 3_250), ("km22", 22_000), ("Quilômetro 7", 7_000),
            ("Rodovia Raposo Tavares, km 0", 0), ("22", None), ("", None), ("Rua Kmart 5", None),
        ],
    )  # fmt: skip  # a table
    def test_is_read_in_metres(self, text, metres):
        assert kilometre(text) == metres

    def test_is_no_part_of_the_name(self):
        assert read("Rod. Raposo Tavares km 22").key == read("Rodovia Raposo Tavares, KM 3,5").key

"""Addresses as people write them, for a geocoder."""

from delivery.places.address_words import house_number, known_words
from tests.cases import in_turn

NUMBERS = [
    ("500", "500"), ("1.250", "1250"), ("0500", "500"), ("500.0", "500"), ("№ 500", "500"), ("nº 500", "500"),
    ("N°: 500", "500"), ("n. 500", "500"), ("Número 500", "500"), ("#500", "500"), ("500º", "500"),
    ("\uff15\uff10", "50"),
    ("500A", "500A"), ("500-a", "500A"), ("500 A", "500A"), ("500 - A.", "500A"), ("500-A apto 3", "500A"),
    ("500 apto 12", "500"), ("500, casa 2", "500"), ("500 B apto 12", "500"), ("500 e 502", "500"), ("500/502", "500"),
    ("12-14", "12"), ("500 fundos", "500"),
]  # fmt: skip  # a table
NONE = [
    "", " ", "S/N", "s/n", "s/nº", "s/n°", "S / N", "s/no", "SN", "sn", "S.N.", "s.n", "sem número", "SEM NUMERO",
    "sem nº", "sem numeração", "0", "00", "-", "—", ".", "N/A", "não tem", "km 12", "Casa 5", "apto 12",
    "Lote 3", "1234567",
]  # fmt: skip  # a list


class TestHouseNumber:
    @in_turn(("text", "number"), NUMBERS)
    def test_is_the_number_alone(self, text, number):
        assert house_number(text) == number

    @in_turn("text", NONE)
    def test_is_empty_where_there_is_none(self, text):
        assert house_number(text) == ""


class TestKnownWords:
    @in_turn(
        ("text", "words"),
        [
            ("Rua das Palmeiras, S/N", "Rua das Palmeiras"),
            ("Rua das Palmeiras s/nº", "Rua das Palmeiras"),
            ("Rua das Palmeiras S.N.", "Rua das Palmeiras"),
            ("Rua das Palmeiras, SN, Centro", "Rua das Palmeiras, Centro"),
            ("Rua das Palmeiras sem número - Centro", "Rua das Palmeiras - Centro"),
            ("Rua das Palmeiras, 500 apto 12, Centro", "Rua das Palmeiras, 500, Centro"),
            ("Rua das Palmeiras 500 - Ap. 12, Centro", "Rua das Palmeiras 500, Centro"),
            ("Rua das Palmeiras 500, apto 12, Centro", "Rua das Palmeiras 500, Centro"),
            ("Rua A, 500 bloco 2 apto 3", "Rua A, 500"),
            ("Rua A, 500 bl. B, Centro", "Rua A, 500, Centro"),
            ("Rua A, 500, bloco B, apto 3, Centro", "Rua A, 500, Centro"),
            ("Rua A, 500 conjunto 21", "Rua A, 500"),
            ("Rua A, 500 - cj 21", "Rua A, 500"),
            ("Rua A, 500 lj 2", "Rua A, 500"),
            ("Rua A, 500 - 2º andar", "Rua A, 500"),
            ("Rua A, 500, 2º andar, Centro", "Rua A, 500, Centro"),
            ("Rua A, quadra 5, lote 3, Centro", "Rua A, Centro"),
            ("Rua A, s/nº - lote 5, Centro", "Rua A, Centro"),
            ("Rua A s/nº quadra 5 lote 3, Centro", "Rua A, Centro"),
            ("SQN 410 Bloco B apto 302", "SQN 410 Bloco B"),
            ("  Rua  das\tPalmeiras ,, Centro ", "Rua das Palmeiras, Centro"),
            ("Sa\u0303o Paulo", "S\u00e3o Paulo"),
        ],
    )
    def test_leave_out_what_no_map_has(self, text, words):
        assert known_words(text) == words

    @in_turn(
        "text",
        [
            "Rua 25 de Março 30", "Rua A, Casa Branca, SP", "Casa Verde", "Travessa SN 17", "SQN 410 Bloco B",
            "SHIS QI 5 Conjunto 10", "QNM 17, Conjunto A", "Rua A, Quadra Nova, SP", "Rua A, 500 Lote Velho",
            "Rua Sem Nome", "Rua S. Nicolau", "Rua da Sala", "Rua Apinajés, 500, São Paulo", "01304-000",
        ],
    )  # fmt: skip  # a list
    def test_leave_names_of_streets_and_places_as_they_are(self, text):
        assert known_words(text) == text

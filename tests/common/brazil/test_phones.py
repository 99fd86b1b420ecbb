"""Telephone numbers as people write them."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common.brazil import phones
from tests.cases import in_turn

ANA, SHOP = ("tel:+5511977770001", "https://wa.me/5511977770001"), ("tel:+551133334444", "https://wa.me/551133334444")


class TestRead:
    @in_turn(
        ("text", "addresses", "shown"),
        [
            ("+55 11 97777-0001", ANA, "(11) 97777-0001"),
            ("5511977770001", ANA, "(11) 97777-0001"),
            ("11977770001", ANA, "(11) 97777-0001"),
            ("011 97777-0001", ANA, "(11) 97777-0001"),
            ("0055 11 97777-0001", ANA, "(11) 97777-0001"),
            ("+55 (0)11 97777-0001", ANA, "(11) 97777-0001"),
            ("0 15 11 97777-0001", ANA, "(11) 97777-0001"),
            ("\u202a+55\xa011\xa097777\u20110001\u202c", ANA, "(11) 97777-0001"),
            ("(11) 3333-4444", SHOP, "(11) 3333-4444"),
            ("55 3333-0000", ("tel:+555533330000", "https://wa.me/555533330000"), "(55) 3333-0000"),
            ("11/97777-0001", ANA, "11/97777-0001"),
            ("Ana: 11 97777-0001", ANA, "Ana: 11 97777-0001"),
            ("ap. 1203, 11 97777-0001", (ANA[0], ""), "ap. 1203, 11 97777-0001"),
            ("0xx11 3333-4444", (SHOP[0], ""), "0xx11 3333-4444"),
            ("(11) 3333-4444 ramal 22", (SHOP[0], ""), "(11) 3333-4444 ramal 22"),
            ("(11) 3333-4444 / (11) 97777-0001", (SHOP[0], ""), "(11) 3333-4444 / (11) 97777-0001"),
            ("(11) 3333-4444, 97777-0001", (SHOP[0], ""), "(11) 3333-4444, 97777-0001"),
            ("+55 11 97777-0001 +55 11 97777-0002", (ANA[0], ""), "+55 11 97777-0001 +55 11 97777-0002"),
            ("11 97777-0001 11 97777-0002", (ANA[0], ""), "11 97777-0001 11 97777-0002"),
            ("3333-4444 97777-0001", ("tel:33334444", ""), "3333-4444 97777-0001"),
            ("97777-0001", ("tel:977770001", ""), "97777-0001"),
            ("4004-1234", ("tel:40041234", ""), "4004-1234"),
            ("(11) 4004-1234", ("tel:+551140041234", ""), "(11) 4004-1234"),
            ("0800 722 1234", ("tel:08007221234", ""), "0800 722 1234"),
            ("+55 800 722 1234", ("tel:+558007221234", ""), "+55 800 722 1234"),
            ("190", ("tel:190", ""), "190"),
            ("+1 415 555 0100", ("tel:+14155550100", "https://wa.me/14155550100"), "+1 415 555 0100"),
            ("ask for Ana", ("", ""), "ask for Ana"),
            ("5,51198E+12", ("", ""), "5,51198E+12"),
            ("+1234567890123456", ("", ""), "+1234567890123456"),
            ("", ("", ""), ""),
        ],
    )
    def test_gives_the_addresses_that_call_and_open_a_chat(self, text, addresses, shown):
        assert phones.read(text) == phones.Phone(shown, *addresses)

    @given(st.text(alphabet=[*"0123456789+()-./, eE\xa0²٣"], max_size=300))
    def test_gives_addresses_of_digits_whatever_the_text_is(self, text):
        phone = phones.read(text)

        number = phone.call.removeprefix("tel:").removeprefix("+")
        assert number == "" or (number.isascii() and number.isdecimal() and len(number) <= 15)
        assert phone.chat in ("", f"https://wa.me/{number}")


# However a number is written in a row, a person's request finds it.
UNUSUAL = [
    ("+55 (0) 11 96333-4444", ["11963334444"]),
    ("0 15 11 96444-5555", ["11964445555"]),
    ("11 96555-6666 ramal 12", ["11965556666"]),
    ("11 96555-6666 12", ["11965556666"]),
    ("(11) 3333-0000 r. 5", ["1133330000"]),
    ("11 96666-7777 / 11 3333-0000", ["11966667777", "1133330000"]),
    ("11 96666-7777 11 3333-0000", ["11966667777", "1133330000"]),
    ("11 96666-7777 / 96666-8888", ["11966667777", "11966668888"]),
    ("Ana \uff11\uff11 96888\u20119999", ["11968889999"]),
]


class TestNationals:
    @pytest.mark.parametrize(("text", "numbers"), UNUSUAL)
    def test_are_all_numbers_in_a_text(self, text, numbers):
        assert phones.nationals(text) == set(numbers)

    @pytest.mark.parametrize("text", ["", "+1 212 555 0100", "97777-0001", "0800 722 1234", "1" * 255])
    def test_are_none_of_other_countries_and_without_an_area_code(self, text):
        assert phones.nationals(text) == set()

    @given(st.text(alphabet=[*"0123456789+()-./, "], max_size=60))
    def test_contain_the_number_that_is_called(self, text):
        call = phones.read(text).call

        if call.startswith("tel:+55") and len(call) in (17, 18):
            assert call.removeprefix("tel:+55") in phones.nationals(text)


class TestTogether:
    @in_turn(
        ("texts", "text"),
        [
            (("", ""), ""),
            (("+55 11 97777-0001", ""), "+55 11 97777-0001"),
            (("", "ramal 3"), "ramal 3"),
            (("11 97777-0001", "11 97777-0001"), "11 97777-0001"),
            (("+55 11 97777-0001", "11977770001"), "11977770001"),
            (("11 97777-0001", "(11) 3333-4444 ramal 22"), "11977770001 | 1133334444"),
            (("11 97777-0001", "+1 212 555 0100"), "11977770001 | 12125550100"),
            (("11 97777-0001", "-"), "11977770001"),
            (("+1 212 555 0100", "11 97777-0001"), "11977770001 | 12125550100"),
            (("1" * 255, "11 97777-0001"), "11977770001"),
            (("97777-0001 / 96666-0002", "11 97777-0001"), "11977770001"),
            (("+123456789012345", "11 97777-0001"), "11977770001 | 123456789012345"),
            (("+1234567890123456", "11 97777-0001"), "11977770001"),
        ],
    )
    def test_has_each_number_once(self, texts, text):
        assert phones.together(*texts) == text

    @pytest.mark.parametrize(("landlines", "kept", "length"), [(0, 18, 249), (7, 18, 242), (8, 19, 255)])
    def test_has_room_for_whole_numbers_in_a_column(self, landlines, kept, length):
        numbers = [*(f"113333{each:04}" for each in range(landlines)), *(f"119777700{each:02}" for each in range(30))]

        text = phones.together(*numbers)

        assert (text.split(" | "), len(text)) == (numbers[:kept], length)


class TestNational:
    @pytest.mark.parametrize(
        ("text", "number", "is_whole"),
        [
            ("+55 (11) 97777-0001", "11977770001", True),
            ("0055 11 3333-0000", "1133330000", True),
            ("0 15 11 97777-0001", "11977770001", True),
            ("55 97777-0001 (Ana)", "55977770001", True),  # an area code like the country's
            ("97777-0001", "977770001", False),
            ("11 96666-7777 / 11 3333-0000", "119666677771133330000", False),  # whose of the two?
            ("+1 415 555 0100", "14155550100", True),
            ("", "", False),
        ],
    )
    def test_is_that_of_one_person_if_it_is_whole(self, text, number, is_whole):
        assert (phones.national(text), phones.is_whole(text)) == (number, is_whole)


class TestDoubtful:
    @pytest.mark.parametrize(
        "text", ["", "abc", "1234567", "5,51198E+12", "5.5e12", "+1234567890123456", "12345678901234"]
    )
    def test_is_what_calls_no_person(self, text):
        assert phones.is_doubtful(text)

    @pytest.mark.parametrize("text", ["97777-0001", "(11) 3333-4444 / (11) 97777-0001", "+123456789012345"])
    def test_is_not_what_does(self, text):
        assert not phones.is_doubtful(text)

    @given(st.text("0159 ()+.-", max_size=25))
    @example("+1000000(0")
    def test_is_what_has_no_address_with_the_digits_of_a_persons_number(self, text):
        assert phones.is_doubtful(text) == (sum(map(str.isdigit, phones.read(text).call)) < 8)

    def test_is_a_text_that_is_too_long_to_be_read(self):
        assert phones.is_doubtful(f"11 97777-0001{' ' * 250}")

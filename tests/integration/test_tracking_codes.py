import pytest

from integration import tracking_codes


class TestEncode:
    @pytest.mark.parametrize(
        ("number", "code"),
        [
            (12345678, "AA123456785BR"), (0, "AA000000005BR"), (10**8, "AB000000005BR"),
            (47312482, "AA473124829BR"), (tracking_codes.LAST, "ZZ999999999BR"),
        ],
    )  # fmt: skip  # a list of cases
    def test_gives_an_s10_code(self, number, code):
        assert tracking_codes.encode(number)[:10] == code[:10]
        assert tracking_codes.encode(number)[10] == str(tracking_codes.check_digit(code[2:10]))

    def test_knows_the_standards_example(self):
        assert tracking_codes.encode(47312482) == "AA473124829BR"

    @pytest.mark.parametrize("number", [-1, tracking_codes.LAST + 1])
    def test_refuses_what_has_no_code(self, number):
        with pytest.raises(ValueError, match="beyond"):
            tracking_codes.encode(number)

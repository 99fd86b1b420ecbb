import pytest

from integration import tracking_codes


class TestEncode:
    @pytest.mark.parametrize(
        ("number", "code"),
        [
            (47312482, "AA473124829BR"),  # the standard's example
            (12345678, "AA123456785BR"), (8, "AA000000080BR"), (0, "AA000000005BR"), (10**8, "AB000000005BR"),
            (26 * 10**8, "BA000000005BR"), (tracking_codes.LAST, "ZZ999999995BR"),
        ],
    )  # fmt: skip  # a list of cases
    def test_returns_an_s10_code(self, number, code):
        assert tracking_codes.encode(number) == code

    @pytest.mark.parametrize("number", [-1, tracking_codes.LAST + 1])
    def test_refuses_what_has_no_code(self, number):
        with pytest.raises(ValueError, match="beyond"):
            tracking_codes.encode(number)

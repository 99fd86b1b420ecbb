import pytest

from delivery.actions import moves
from delivery.errors import InvalidPosition


class TestParsePoint:
    def test_reads_latitude_and_longitude(self):
        assert moves.parse_point("-23.56, -46.65") == (-23.56, -46.65)

    @pytest.mark.parametrize("text", ["", "1", "1,2,3", "91,0", "nan,0", "0" * 200 + "1,1", "1,1" + " " * 2_000_000])
    def test_refuses_invalid_text_with_a_short_message(self, text):
        with pytest.raises(InvalidPosition) as refused:
            moves.parse_point(text)

        assert len(str(refused.value)) < 300

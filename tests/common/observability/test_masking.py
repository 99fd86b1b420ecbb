"""What is left of JSON that may hold personal data."""

import pytest

from common.observability import masking
from common.observability.masking import Keys, Masker
from tests.cases import in_turn

KEYS = Keys(codes=frozenset({"code", "weight"}), postcodes=frozenset({"zip"}), coordinates=frozenset({"lat"}))


@pytest.fixture
def masker() -> Masker:
    return Masker(KEYS)


class TestMask:
    @in_turn(
        ("sent", "kept"),
        [
            ({"name": "Maria Silva"}, {"name": "<text, 11>"}),
            ({"name": None}, {"name": None}),
            ({"agreed": True}, {"agreed": "<boolean>"}),
            ({"document": 52998224725}, {"document": "<number, 11>"}),
            ({"price": 12.5}, {"price": "<number, 4>"}),
            ({"code": "MOTORCYCLE"}, {"code": "MOTORCYCLE"}),
            ({"code": "2026-01-02T10:00:00+00:00"}, {"code": "2026-01-02T10:00:00+00:00"}),
            ({"code": "10x20x30,1.5"}, {"code": "10x20x30,1.5"}),
            ({"code": ["A-1", "B 2"]}, {"code": ["A-1", "<text, 3>"]}),
            ({"code": "Maria Silva"}, {"code": "<text, 11>"}),
            ({"code": "maria@example.com"}, {"code": "<text, 17>"}),
            ({"code": "11999998888"}, {"code": "<text, 11>"}),
            ({"code": "529.982.247-25"}, {"code": "<text, 14>"}),
            ({"code": "x" * 41}, {"code": "<text, 41>"}),
            ({"code": ""}, {"code": "<text, 0>"}),
            ({"weight": 1.5}, {"weight": 1.5}),
            ({"weight": True}, {"weight": "<boolean>"}),
            ({"weight": 11999998888}, {"weight": "<number, 11>"}),
            ({"zip": "01310-100"}, {"zip": "01310****"}),
            ({"zip": "01310100"}, {"zip": "01310***"}),
            ({"zip": 1310100}, {"zip": "13101**"}),
            ({"zip": "0131"}, {"zip": "<text, 4>"}),
            ({"zip": "01310-100 fundos"}, {"zip": "<text, 16>"}),
            ({"lat": -23.561414}, {"lat": -23.56}),
            ({"lat": "-23.561414"}, {"lat": -23.56}),
            ({"lat": "here"}, {"lat": "<text, 4>"}),
            ({"lat": 10**400}, {"lat": "<number, 401>"}),
            ({"lat": True}, {"lat": "<boolean>"}),
            ({"lat": {"code": "A-1", "x": "y"}}, {"lat": {"code": "A-1", "x": "<text, 1>"}}),
            ({"Maria Silva": 1}, {"<key, 11>": "<number, 1>"}),
            ({"11999998888": 1}, {"<key, 11>": "<number, 1>"}),
            ({"a@b.c": 1}, {"<key, 5>": "<number, 1>"}),
            ({"endereço_2": None}, {"endereço_2": None}),
        ],
    )
    def test_keeps_keys_and_what_identifies_nobody(self, masker, sent, kept):
        assert masker.mask(sent) == kept


class TestWithoutRepetitions:
    def test_removes_what_was_masked(self, masker):
        masker.mask({"name": " Maria ", "document": "529.982.247-25", "lat": -23.561414, "Rua Augusta": 1})

        answer = {"detail": "Maria, 529.982.247-25 or 52998224725, at -23.561414", "Rua Augusta": ["Rua Augusta"]}

        assert masker.without_repetitions(answer) == {
            "detail": "<text, 5>, <text, 14> or <text, 11>, at <text, 10>",
            "<text, 11>": ["<text, 11>"],
        }

    def test_removes_the_longer_of_two_values_first(self, masker):
        masker.mask({"a": "Maria", "b": "Maria Silva"})

        assert masker.without_repetitions("Maria Silva") == "<text, 11>"

    def test_keeps_other_text_and_short_values(self, masker):
        masker.mask({"number": "12"})

        assert masker.without_repetitions({"detail": "line 12", "status": 422}) == {"detail": "line 12", "status": 422}

    def test_masks_every_text_when_values_of_a_long_body_were_left_out(self, masker, monkeypatch):
        monkeypatch.setattr(masking, "MOST_VALUES", 4)

        masked = masker.mask({"code": "A-1", "weight": 1, "zip": "01310-100", "name": "Maria"})

        assert masked == {"code": "A-1", "weight": 1, "zip": "01310****"}
        assert masker.without_repetitions({"detail": "Maria"}) == {"detail": "<text, 5>"}

    def test_masks_every_text_when_too_many_values_could_be_in_it(self, masker):
        masker.mask({"names": [f"Maria {number}" for number in range(201)]})

        assert masker.without_repetitions({"detail": "x", "status": 422}) == {"detail": "<text, 1>", "status": 422}

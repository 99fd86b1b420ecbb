"""The limits of JSON bodies, exactly at each limit and one past it."""

import io
import json

import pytest

from common.api.json_body import BodyTooDeep, BodyTooLarge, InvalidJSON, NotAnObject, read_object


def nested(levels, kind):
    """An object of so many levels, the ones below the first all of one kind."""
    body: object = 1
    for _level in range(levels - 1):
        body = [body] if kind is list else {"a": body}
    return {"a": body}


def read(text, *, most_bytes=10_000, most_levels=20):
    return read_object(io.BytesIO(text.encode()), most_bytes=most_bytes, most_levels=most_levels)


class TestReadObject:
    @pytest.mark.parametrize(("text", "is_encoded_twice"), [("[{}]", False), ('"a"', False), (r'" {\"a\": 1}"', True)])
    def test_knows_an_object_that_was_encoded_twice(self, text, is_encoded_twice):
        with pytest.raises(NotAnObject) as raised:
            read(text)

        assert raised.value.is_encoded_twice == is_encoded_twice

    def test_says_in_which_line_and_column_the_syntax_is_wrong(self):
        with pytest.raises(InvalidJSON) as raised:
            read('{\n "a" 1}')

        assert (raised.value.line, raised.value.column) == (2, 6)

    @pytest.mark.parametrize("kind", [list, dict])
    @pytest.mark.parametrize("levels", [1, 2, 20])
    def test_takes_as_many_levels_as_allowed_and_not_one_more(self, kind, levels):
        body = nested(levels, kind)

        assert read(json.dumps(body), most_levels=levels) == body
        with pytest.raises(BodyTooDeep):
            read(json.dumps(nested(levels + 1, kind)), most_levels=levels)

    def test_counts_the_deepest_branch_whatever_its_place(self):
        shallow, deep = {"x": 1}, nested(5, dict)

        for body in ({"a": shallow, "b": deep}, {"a": deep, "b": shallow}, {"a": [shallow, deep]}):
            levels = 7 if isinstance(body["a"], list) else 6
            assert read(json.dumps(body), most_levels=levels) == body
            with pytest.raises(BodyTooDeep):
                read(json.dumps(body), most_levels=levels - 1)

    def test_takes_as_many_bytes_as_allowed_and_not_one_more(self):
        body = '{"a": "é"}'  # 11 bytes, 10 characters

        assert read(body, most_bytes=11) == {"a": "é"}
        with pytest.raises(BodyTooLarge):
            read(body, most_bytes=10)

"""JSON bodies after a few changes: no error of ours, and a bounded CPU time."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.cost.cpu import assert_cheap
from tests.cost.test_fields import BODIES, SECONDS
from tests.cost.worst import SIZE
from tests.cost.wsgi import ask

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["\x00", "\ud800", "1" * 65, "1e999", "-0", "٣", "2026-02-30 10:00:00", "0x1", "\ufeff", "1_0"]),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=10,
)


def places_of(value, above=()):
    """The place of everything within a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for name, child in inner for place in [(*above, name), *places_of(child, (*above, name))]]


def changed(draw, body):
    """The body as JSON, some of its values dropped or replaced, and one at the end repeated to the largest size."""
    for _change in range(draw(st.integers(1, 4))):
        if not body:
            break
        inner, last = _place(draw, body)
        if draw(st.booleans()):
            del inner[last]
        else:
            inner[last] = draw(VALUES)
    if places_of(body):
        inner, last = _place(draw, body)
        times = draw(st.sampled_from([1, 2, SIZE // (len(json.dumps(inner[last])) + 2)]))
        inner[last] = str(inner[last]) * times if draw(st.booleans()) else [inner[last]] * times
    return json.dumps(body).encode()


def _place(draw, body):
    *above, last = draw(st.sampled_from(places_of(body)))
    inner = body
    for name in above:
        inner = inner[name]
    return inner, last


@pytest.mark.parametrize("path", BODIES)
@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_changed_body_is_cheap_and_gives_no_error_of_ours(path, data, headers_for, address_of):
    _serializer, make = BODIES[path]
    body = changed(data.draw, make() or {"reason": "x", "orderId": "A-1"})

    def send():
        answer = ask("POST", address_of(path), headers=headers_for(path), body=body)
        assert answer.status in {200, 201, 400, 401, 404, 413, 422}, answer

    assert_cheap({"changed": send}, seconds=SECONDS)

"""JSON bodies of both APIs with worst-case values in every field, and after a few random changes.

The CPU time is bounded, and no answer is an error of ours. The fields are read from the serializers.
"""

import json
import re
from collections.abc import Iterator
from copy import deepcopy
from datetime import timedelta
from itertools import product
from typing import Any

import pytest
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rest_framework.fields import Field
from rest_framework.serializers import BaseSerializer, ListSerializer, Serializer

from integration.words import CORRECTED
from tests.cost.cpu import Child, undone
from tests.cost.worst import EXTREMES, SIZE, json_values
from tests.cost.wsgi import ask
from tests.endpoints import ENDPOINTS
from tests.factories import payload
from tests.integration.factories import order_body

# CPU seconds. The slowest case needs a fifth of this; quadratic code would need minutes at this size.
SECONDS = 1

LARGEST = 256 * 1024  # a body of this size is refused for it

# By path; {} is replaced by the id of a delivery.
BODIES = {each.path: each for each in ENDPOINTS if each.serializer and each.serializer.fields}


def delivery_body():
    """With every field, and goods that are ready later."""
    body, now = payload(), timezone.now()
    moments = {hours: (now + timedelta(hours=hours)).isoformat() for hours in (1, 2, 4)}
    for dropoff in body["dropoffs"]:
        place = {name: dropoff["address"][name] for name in ("latitude", "longitude")}
        dropoff["contacts"]["email"] = "maria@example.com"
        dropoff |= {"coordinates": place, "instructions": "Ring twice", "proof": {"photo": True, "pin": True}}
        dropoff |= {"onFailure": "RETRY", "readyAt": moments[1], "deadlineAt": moments[4]}
    return {**body, "pickupReadyAt": moments[1], "pickupDeadlineAt": moments[2]}


# Bodies with every field, where the example of the description has fewer.
FULL = {
    "/api/request-delivery": delivery_body, "/api/quotation-delivery": delivery_body,
    "/api/integration/orders": lambda: order_body(volumes=2),
    "/api/integration/orders/{}": lambda: {key: order_body(volumes=2)[key] for key in CORRECTED},
}  # fmt: skip  # a table


def body_of(path):
    """A valid body."""
    return FULL[path]() if path in FULL else deepcopy(BODIES[path].body)


def kind(serializer: Serializer[Any], name: str, field: Field[Any, Any, Any, Any]) -> tuple[object, ...]:
    """What reads a field's value. Fields of one kind differ in their names alone, and one of them is tested."""
    if isinstance(field, BaseSerializer) or hasattr(serializer, f"validate_{name}"):
        return type(serializer), name
    return type(field), repr(field._kwargs)  # type: ignore[attr-defined]  # missing in the stubs


def pointers(serializer, above=()):
    """The path (keys and indexes) and the kind of every field of a serializer; of a list only the first item."""
    for name, field in serializer.fields.items():
        place = (*above, name)
        yield place, kind(serializer, name, field)
        if isinstance(field, ListSerializer):
            yield (*place, 0), (type(serializer), name, 0)
            yield from pointers(field.child, (*place, 0))
        elif isinstance(field, Serializer):
            yield from pointers(field, place)


def places(serializer: Serializer[Any], tested: set[tuple[object, ...]]) -> Iterator[tuple[str | int, ...]]:
    """The paths of the fields of kinds that are not in `tested`, to which these are added."""
    yield ()
    for place, of in pointers(serializer):
        if of not in tested:
            tested.add(of)
            yield place


_TESTED: set[tuple[object, ...]] = set()
FIELDS = {each.path: list(places(each.serializer, _TESTED)) for each in BODIES.values() if each.serializer}


def body_with(body, place, value):
    """The body as JSON with `value`, a JSON text, at the path `place`. () replaces the whole body."""
    if not place:
        return value.encode()
    mark = "the worst"
    *above, last = place
    inner = body
    for name, after in zip(above, place[1:], strict=True):
        if isinstance(inner, dict):
            inner.setdefault(name, [{}] if after == 0 else {})
        inner = inner[name]
    inner[last] = mark
    return json.dumps(body, ensure_ascii=False).replace(json.dumps(mark), value).encode()


def send(path, address, body, headers):
    answer = ask(BODIES[path].method.upper(), address, headers=headers, body=body)
    too_large = {413} if len(body) >= LARGEST else set()
    assert answer.status in {200, 201, 400, 401, 404, 409, 422} | too_large, answer


def worst_of_every_field(path):
    """Bodies with their names."""
    # A field of a quarter of the largest body shows quadratic code too: it would need a quarter of a minute.
    values = {False: json_values(SIZE // 4), True: json_values()}
    for place in FIELDS[path]:
        for name, value in values[place == ()].items():
            body = body_with(body_of(path), place, value)
            assert len(body) < LARGEST
            yield f"{'/'.join(map(str, place))}: {name}", body


@pytest.fixture
def sender(path, headers_for, address_of):
    """A process that sends bodies, to an endpoint that an ordinary one reaches."""
    address, headers = address_of(path), headers_for(path)

    def send_ordinary(body):
        answer = ask(BODIES[path].method.upper(), address, headers=headers, body=body)
        # Nothing has failed there.
        assert answer.status == (409 if path.endswith("/instruct") else BODIES[path].status), answer

    # The first call imports and reads what later ones use: files of fonts, for example.
    assert not undone(send_ordinary, json.dumps(body_of(path)).encode())
    with Child(lambda body: send(path, address, body, headers)) as child:
        yield child


@pytest.mark.parametrize("path", BODIES)
def test_a_body_with_the_worst_of_every_field_or_changed_is_cheap_and_gives_no_error_of_ours(path, sender):
    sender.assert_cheap(worst_of_every_field(path), seconds=SECONDS)

    @settings(max_examples=10, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def send_changed(data):
        body = changed(data.draw, body_of(path) or {"reason": "x", "orderId": "A-1"})
        sender.assert_cheap([("changed", body)], seconds=SECONDS)

    send_changed()


# Fields with a moment, by their names.
MOMENT = re.compile(r"(At|Date|From|To)$")
MOMENTS = {
    path: found
    for path, each in BODIES.items()
    if (found := [place for place, _kind in pointers(each.serializer) if MOMENT.search(str(place[-1]))])
}


@pytest.mark.parametrize("path", MOMENTS)
def test_the_first_and_the_last_moment_of_all_in_each_field_are_no_error_of_ours(path, headers_for, address_of):
    address, headers, soon = address_of(path), headers_for(path), json.dumps(str(timezone.now() + timedelta(hours=1)))
    ordinary = body_of(path)
    for place in MOMENTS[path]:
        ordinary = json.loads(body_with(ordinary, place, soon))

    for place, moment in product(MOMENTS[path], EXTREMES):
        send(path, address, body_with(deepcopy(ordinary), place, json.dumps(moment)), headers)


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

"""Counters of attempts: what tells one from another, and that a refused attempt is in none of them."""

from datetime import timedelta

import pytest

from common.models import AttemptCount
from common.pages import attempts
from common.pages.attempts import Limit, TooManyAttempts

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


def counts():
    return dict(AttemptCount.objects.values_list("key", "count"))


@pytest.mark.parametrize("full", range(3))
def test_a_refused_attempt_counts_in_none_of_its_counters(full):
    counters = [(Limit(f"limit {place}", 1 if place == full else 9, HOUR), ("ana",)) for place in range(3)]
    attempts.count_all(counters)
    before = counts()

    with pytest.raises(TooManyAttempts):
        attempts.count_all(counters)

    assert counts() == before


def test_a_counter_is_of_its_limit_and_of_all_of_its_parts():
    one, other = (Limit(name, 1, HOUR) for name in ("one", "other"))
    counters = [
        (one, ("a", "b")),
        (one, ("a", "c")),
        (one, ("c", "b")),
        (one, ("a",)),
        (one, ("ab",)),
        (other, ("a", "b")),
    ]

    for limit, parts in counters:
        attempts.count(limit, *parts)

    assert set(counts().values()) == {1}
    assert len(counts()) == len(counters)

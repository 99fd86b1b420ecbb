"""Uploads that wait for a confirmation: whose they are, for which page and for how long."""

from datetime import timedelta

import pytest
from django.utils import timezone

from common.files import kept_uploads
from common.files.kept_uploads import BUSY, LIFETIME, MOST_OF_AN_OWNER
from common.models import KeptUpload
from tests.cases import in_turn

pytestmark = pytest.mark.django_db
NOW, TICK = timezone.now(), timedelta(microseconds=1)
ANA = {"owner": "ana", "kind": "rates"}


def keep(content="rows", **changes):
    return kept_uploads.keep(content, **{**ANA, "at": NOW, **changes})


@in_turn(
    ("changes", "found"),
    [
        ({}, "rows"),
        ({"at": NOW + LIFETIME - timedelta(seconds=1)}, "rows"),
        ({"at": NOW + LIFETIME}, None),
        ({"owner": "bia"}, None),
        ({"kind": "tariffs"}, None),
    ],
)
def test_an_upload_is_found_by_its_owner_on_its_page_within_an_hour(changes, found):
    assert kept_uploads.find(keep(), **{**ANA, "at": NOW, **changes}) == found


def test_a_new_upload_takes_the_place_of_the_oldest_of_its_owner_alone():
    others, first = keep(owner="bia", at=NOW - timedelta(minutes=9)), keep(at=NOW - timedelta(minutes=8))
    further = [keep(kind="tariffs"), *(keep() for _upload in range(MOST_OF_AN_OWNER - 1))]

    assert {*KeptUpload.objects.values_list("pk", flat=True)} == {others, *further}
    assert first not in further


def test_one_upload_of_an_owner_is_worked_on_at_a_time():
    first, second, others = keep(), keep(), keep(owner="bia")

    claimed = [kept_uploads.claim(each, owner="ana", at=NOW) for each in (first, second, first, others)]

    assert claimed == [True, False, False, False]
    assert kept_uploads.claim(others, owner="bia", at=NOW)


@pytest.mark.parametrize(
    ("later", "is_free"),
    [
        (timedelta(), False), (BUSY - TICK, False), (BUSY, True),
        (-TICK, True),  # the clock was put right, so that the claim would last for longer than claims do
    ],
)  # fmt: skip  # a table
def test_a_claim_ends_by_itself(later, is_free):
    first, second, others = keep(), keep(), keep(owner="bia")
    kept_uploads.claim(first, owner="ana", at=NOW)
    kept_uploads.claim(others, owner="bia", at=NOW + later)

    assert kept_uploads.claim(second, owner="ana", at=NOW + later) is is_free
    assert not kept_uploads.claim(others, owner="bia", at=NOW + later)


def test_a_claim_that_is_released_is_the_only_one_that_ends():
    first, second, others = keep(), keep(), keep(owner="bia")
    kept_uploads.claim(first, owner="ana", at=NOW)
    kept_uploads.claim(others, owner="bia", at=NOW)

    kept_uploads.release(first)

    assert not kept_uploads.claim(others, owner="bia", at=NOW)
    assert kept_uploads.claim(second, owner="ana", at=NOW)


def test_an_upload_that_is_changed_or_removed_leaves_the_others():
    changed, removed, other = keep(), keep(), keep()
    later = NOW + LIFETIME / 2

    kept_uploads.change(changed, "others", at=later)
    kept_uploads.remove(removed)

    def found(at):
        return [kept_uploads.find(each, **ANA, at=at) for each in (changed, removed, other)]

    assert found(later) == ["others", None, "rows"]
    assert found(later + LIFETIME - TICK) == ["others", None, None]
    assert found(later + LIFETIME) == [None, None, None]

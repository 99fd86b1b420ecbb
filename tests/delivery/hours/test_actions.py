"""Whether a delivery may be picked up at a moment, and changes of the hours of service."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from pghistory.models import Events

from common.postgresql.row_history import changes, made_by
from delivery.errors import Closed
from delivery.geo.distance import Point
from delivery.hours import actions as service_hours
from delivery.hours.models import ServiceHours, ServiceHoursChange
from delivery.models import Environment
from delivery.windows import Window
from tests.factories import BY, TokenFactory, validated_payload
from tests.service_hours import make, row

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 11, 24, 15, tzinfo=UTC)  # in São Paulo
MANAUS = Point(-3.12, -60.02)


def named(external_id, ready_at=None):
    """With a drop-off in another zone than the pickup."""
    payload = validated_payload(stops=1)
    payload = replace(payload, pickup=replace(payload.pickup, window=Window(ready_at)))
    return replace(payload, dropoffs=[replace(payload.dropoffs[0], external_id=external_id, point=MANAUS, address={})])


class TestCheck:
    def check(self, token, *, external_id="", at=NOON, ready_at=None):
        return service_hours.check(token=token, payload=named(external_id, ready_at), at=at)

    def test_asks_the_moment_of_the_pickup(self, token):
        make("13:00-18:00", integrator=token.integrator)

        with pytest.raises(Closed) as refused:
            self.check(token)
        self.check(token, at=NOON + timedelta(hours=1))
        self.check(token, at=NOON + timedelta(hours=1), ready_at=NOON)  # what is ready already is picked up now

        assert refused.value.opens_at == NOON + timedelta(hours=1)
        assert str(refused.value).endswith("It opens 2026-11-24 13:00:00-03:00.")

    def test_names_no_moment_if_there_is_none(self, token):
        make("13:00-18:00", integrator=token.integrator, days_off="\n".join(
            f"{(NOON + timedelta(days=number)).date()} Strike" for number in range(62)
        ))  # fmt: skip

        with pytest.raises(Closed) as refused:
            self.check(token)

        assert refused.value.opens_at is None

    def test_of_the_sandbox_refuses_what_asks_for_it_alone(self, token):
        sandbox = TokenFactory.create(integrator=token.integrator, environment=Environment.SANDBOX)
        make("13:00-18:00", integrator=token.integrator)

        self.check(sandbox)
        with pytest.raises(Closed) as refused:
            self.check(sandbox, external_id="sim-closed-1")
        self.check(token, external_id="sim-closed-1", at=NOON + timedelta(hours=1))

        assert refused.value.opens_at == NOON + timedelta(hours=1)

    def test_of_the_sandbox_accepts_the_moment_that_it_told_also_after_it(self, token):
        sandbox = TokenFactory.create(integrator=token.integrator, environment=Environment.SANDBOX)
        minute, hour = timedelta(minutes=1), timedelta(hours=1)
        asked = {"external_id": "sim-closed-1", "at": NOON + minute}

        for told in (NOON, NOON + hour, NOON + hour + minute):
            self.check(sandbox, ready_at=told, **asked)
        for ready_at in (None, NOON - hour, NOON + minute, NOON + hour - minute):
            with pytest.raises(Closed) as refused:
                self.check(sandbox, ready_at=ready_at, **asked)
            assert refused.value.opens_at == NOON + hour


class TestSave:
    def test_holds_at_once_in_this_process(self, token, django_capture_on_commit_callbacks):
        with django_capture_on_commit_callbacks(execute=True):
            hours = service_hours.save(hours=row(), by=BY)

        assert ServiceHours.in_force().general == hours

    def test_is_recorded_with_who_made_it(self):
        hours = make()
        hours.monday, hours.closed_on_holidays = "09:00-18:00", True

        service_hours.save(hours=hours, by=BY)

        event = Events.objects.across(ServiceHoursChange).get(pgh_label="changed")
        (change,) = changes([event])
        assert made_by(event) == BY
        assert [(each.name, each.old, each.new) for each in change.differences] == [
            ("Monday", "08:00-18:00", "09:00-18:00"), ("closed on national holidays", "No", "Yes"),
        ]  # fmt: skip  # a table

    def test_refuses_what_is_not_valid(self):
        with pytest.raises(ValidationError):
            service_hours.save(hours=row("8-18"), by=BY)

        assert not ServiceHours.objects.exists()

    @pytest.mark.django_db(transaction=True)
    def test_makes_one_of_a_scope_of_two_at_once(self, at_once):
        """Both find none while they check: the constraint refuses the second one."""
        found = at_once(*[lambda: service_hours.save(hours=row(), by=BY)] * 2)

        refused = [each for each in found if isinstance(each, IntegrityError | ValidationError)]
        assert (len(refused), ServiceHours.objects.count()) == (1, 1)


class TestDelete:
    def test_is_open_again_and_recorded(self, django_capture_on_commit_callbacks):
        hours = make()

        with django_capture_on_commit_callbacks(execute=True):
            service_hours.delete(hours=hours, by=BY)

        assert ServiceHours.in_force().general is None
        assert ServiceHoursChange.objects.get(pgh_label="deleted").pgh_context["by"] == BY

"""The page of a stop: what the shop changes until the driver has been there, and its answer to a first failure."""

from decimal import Decimal
from html import unescape

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from delivery.actions import deliveries, stops
from delivery.lifecycle import Mode, OnFailure
from delivery.models import (
    AuditEntry,
    Delivery,
    DropoffOptions,
    Integrator,
    IntegratorMembership,
    Stop,
    StopChange,
    Tariff,
)
from delivery.payload import Options
from delivery.pricing import percent_of
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory

pytestmark = pytest.mark.django_db
CHANGE = {"step": "change", "contact_name": "Bia", "contact_phone": "+55 11 2222-0000", "instructions": "Knock"}


def try_at_b(shop, mode=Mode.DEFAULT):
    """A delivery with an open second attempt."""
    retry = Options(instructions="Ring twice", on_failure=OnFailure.RETRY)
    delivery = asking_for(retry, token=shop.token, mode=mode, collected=True)
    return deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="Rang", by=BY, at=timezone.now())


@pytest.fixture
def tried(shop):
    return try_at_b(shop)


def page_of(delivery, point="B"):
    return f"/panel/accounts/{delivery.integrator_id}/{delivery.environment}/deliveries/{delivery.pk}/stops/{point}/"


def no_owner(shop, **right):
    """The members are none; somebody else is the owner that each account has."""
    shop.integrator.memberships.create(user=User.objects.create_user("boss"), role="owner")
    IntegratorMembership.objects.exclude(user__username="boss").update(role="member", **right)


class TestChange:
    def test_shows_and_saves_contact_and_instructions(self, member, shop):
        page = page_of(shop.delivery)
        assert "What follows?" not in member.get(page).content.decode()

        answer = member.post(page, CHANGE, follow=True)

        stop = Stop.objects.get(delivery=shop.delivery, index=0)
        assert (stop.contact_name, stop.options.instructions) == ("Bia", "Knock")
        assert StopChange.objects.get().by.startswith("member ")
        shown = answer.content.decode()
        assert "Saved." in shown
        assert "Changed by the shop at B" in shown

    def test_leaves_what_was_changed_since_the_page_was_opened(self, member, shop):
        at = timezone.now()
        first = {"contact_name": "Ana", "instructions": "Gate\nRing"}
        stops.change(delivery=shop.delivery, point="B", values=first, by=BY, at=at)
        opened = member.get(page_of(shop.delivery)).context["change"]
        sent = {
            f"{prefix}{field.name}": (field.value() or "").replace("\n", "\r\n")
            for field in opened
            for prefix in ("", "initial-")
        }
        for name in sent:
            assert f'name="{name}"' in str(opened)
        stops.change(delivery=shop.delivery, point="B", values={"contact_phone": "+55 11 2"}, by=BY, at=at)

        member.post(page_of(shop.delivery), {**sent, "step": "change", "contact_name": "Bia"})

        stop = Stop.objects.get(delivery=shop.delivery, index=0)
        assert (stop.contact_name, stop.contact_phone, stop.options.instructions) == ("Bia", "+55 11 2", "Gate\nRing")
        latest = StopChange.objects.latest("pk")
        assert (latest.contacts, latest.instructions) == (True, False)

    def test_shows_the_phone_for_people_and_keeps_it_as_it_is_stored(self, member, shop):
        Stop.objects.filter(delivery=shop.delivery, index=0).update(contact_phone="+5511977770005")
        phone = member.get(page_of(shop.delivery)).context["change"]["contact_phone"].value()
        sent = {"contact_phone": phone, "initial-contact_phone": phone}

        member.post(page_of(shop.delivery), {**CHANGE, **sent})

        assert phone == "(11) 97777-0005"
        stop = Stop.objects.get(delivery=shop.delivery, index=0)
        assert (stop.contact_name, stop.contact_phone) == ("Bia", "+5511977770005")

    def test_keeps_what_is_wrong_and_saves_nothing(self, member, shop):
        answer = member.post(page_of(shop.delivery), {**CHANGE, "contact_email": "nobody"})

        assert answer.status_code == 422
        assert 'value="Bia"' in answer.content.decode()
        assert not StopChange.objects.exists()

    def test_of_a_stop_that_has_ended_leads_back_to_the_delivery(self, member, shop):
        deliveries.cancel(delivery=shop.delivery, reason="", by=BY, at=timezone.now())

        for answer in (member.get(page_of(shop.delivery)), member.post(page_of(shop.delivery), CHANGE)):
            assert (answer.status_code, "/stops/" in answer.url) == (302, False)
        assert not StopChange.objects.exists()
        on_its_way = DeliveryFactory.create(token=shop.token, collected=True, stops=2)
        deliveries.deliver(delivery=on_its_way, point="B", by=BY, at=timezone.now())
        assert [member.get(page_of(on_its_way, point)).status_code for point in "BC"] == [302, 200]

    def test_is_404_for_a_point_that_the_route_does_not_have(self, member, shop):
        assert member.get(page_of(shop.delivery, "D")).status_code == 404
        assert member.post(page_of(shop.delivery, "A"), CHANGE).status_code == 404

    def test_is_for_those_who_may_request(self, member, shop):
        no_owner(shop, may_request=False)

        assert member.get(page_of(shop.delivery)).status_code == 403
        assert member.post(page_of(shop.delivery), CHANGE).status_code == 403
        assert page_of(shop.delivery) not in member.get(page_of(shop.delivery).partition("stops")[0]).content.decode()


class TestAnswer:
    def test_is_asked_for_on_the_page_of_the_delivery(self, member, tried):
        shown = member.get(page_of(tried).partition("stops")[0]).content.decode()

        assert shown.count(f'"{page_of(tried)}"') == 1
        assert shown.count("it is tried again") == 1
        assert "First attempt failed at B" in shown
        assert "“Nobody there: Rang”" in shown

    @pytest.mark.parametrize(
        ("answer", "status", "sent", "instructions"),
        [
            ("LEAVE", "COLLECTED", "Gate", "Gate"),
            ("RETRY", "COLLECTED", "", "Ring twice"),  # as they were
            ("RETURN", "FAILED", "Gate", "Gate"),
        ],
    )
    def test_is_given(self, member, tried, answer, status, sent, instructions):
        page = page_of(tried)
        assert "The first attempt failed. What follows?" in member.get(page).content.decode()

        shown = member.post(page, {"step": "answer", "answer": answer, "instructions": sent}, follow=True)

        assert "The driver is told." in shown.content.decode()
        assert Stop.objects.get(delivery=tried).status == status
        options = DropoffOptions.objects.get(stop__delivery=tried)
        assert (options.on_failure, options.instructions) == (answer, instructions)

    @pytest.mark.parametrize("mode", [Mode.DEFAULT, Mode.RETURN])
    def test_says_what_each_adds_to_the_price(self, member, shop, mode):
        """The way back of a route that returns to A anyway is in its price."""
        Tariff.objects.update(retry_percent=100, return_percent=50)
        delivery = try_at_b(shop, mode)

        shown = unescape(member.get(page_of(delivery), HTTP_ACCEPT_LANGUAGE="en").content.decode())

        price, half = delivery.shipping_value, percent_of(delivery.shipping_value, Decimal(50))
        assert f"Try again (second attempt: R$ {price})" in shown
        assert f"Leave it at the door (second attempt: R$ {price})" in shown
        assert (f"Bring it back (way back after a failure: R$ {half})" in shown) is (mode == Mode.DEFAULT)
        assert ("Bring it back (" in shown) is (mode == Mode.DEFAULT)

    @pytest.mark.parametrize("answer", ["", "LATER"])
    def test_is_one_of_three(self, member, tried, answer):
        assert member.post(page_of(tried), {"step": "answer", "answer": answer}).status_code == 422
        assert not StopChange.objects.exists()

    def test_without_a_failure_is_refused(self, member, shop):
        answer = member.post(page_of(shop.delivery), {"step": "answer", "answer": "RETURN"}, follow=True)

        assert "No second attempt is open at this point." in answer.content.decode()
        assert Delivery.objects.get(pk=shop.delivery.pk).status == "PENDING"


class TestPolicy:
    def page(self, shop):
        return f"/panel/accounts/{shop.integrator.pk}/live/policy/"

    def test_is_set_by_an_owner(self, member, shop):
        IntegratorMembership.objects.update(role="owner")

        answer = member.post(self.page(shop), {"on_failure": "RETRY"}, follow=True)

        assert "Saved." in answer.content.decode()
        assert Integrator.objects.get(pk=shop.integrator.pk).on_failure == "RETRY"
        assert {entry.subject for entry in AuditEntry.objects.filter(action="policy_set")} == {"RETRY"}

    def test_is_shown_to_members_and_not_set_by_them(self, member, shop):
        no_owner(shop, may_request=True)

        assert member.post(self.page(shop), {"on_failure": "RETRY"}).status_code == 403

        assert Integrator.objects.get(pk=shop.integrator.pk).on_failure == "RETURN"
        assert "Back to A" in member.get(self.page(shop).replace("policy", "pickup-points")).content.decode()

    def test_is_one_of_three(self, member, shop):
        IntegratorMembership.objects.update(role="owner")

        member.post(self.page(shop), {"on_failure": "BURN"})

        assert Integrator.objects.get(pk=shop.integrator.pk).on_failure == "RETURN"


class TestReverse:
    def test_says_what_is_collected_and_not_delivered(self, member, shop):
        delivery = DeliveryFactory.create(token=shop.token, stops=2, mode=Mode.REVERSE, accepted=True)
        deliveries.collect(delivery=delivery, point="B", by=BY, at=timezone.now())
        deliveries.fail(delivery=delivery, point="C", code="CLOSED", reason="", by=BY, at=timezone.now())

        shown = member.get(page_of(delivery).partition("stops")[0]).content.decode()

        for text in ("Collected at B", "Not collected at C", "1 of 2 not collected", "From the points to A"):
            assert text in " ".join(shown.split()), text

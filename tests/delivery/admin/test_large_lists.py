"""Lists of any size: estimated counts, filters by index, histories and positions."""

import json

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from common.admin import base as admin_base
from common.admin.base import EstimatingPaginator
from delivery.actions import drivers
from delivery.models import Delivery, Driver, WebhookEvent
from tests.delivery.admin.conftest import person
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory

LIST = reverse("admin:delivery_delivery_changelist")


class TestCount:
    def test_is_exact_when_small(self, db):
        DeliveryFactory.create_batch(3)

        paginator = EstimatingPaginator(Delivery.objects.all(), 2)

        assert (paginator.count, paginator.num_pages, paginator.is_estimated) == (3, 2, False)

    def test_is_the_planners_when_large_and_said_to_be(self, admin_client, monkeypatch):
        monkeypatch.setattr(admin_base, "_EXACT_COUNT", 2)
        DeliveryFactory.create_batch(5)
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE delivery_delivery")

        page = admin_client.get(LIST)

        assert (page.context["cl"].result_count, page.context["cl"].full_result_count) == (5, None)
        assert "about 5 deliveries" in page.content.decode()

    def test_is_never_below_what_was_counted(self, db, monkeypatch):
        monkeypatch.setattr(admin_base, "_EXACT_COUNT", 2)
        monkeypatch.setattr(
            "django.db.models.QuerySet.explain", lambda *_a, **_k: json.dumps([{"Plan": {"Plan Rows": 1}}])
        )
        DeliveryFactory.create_batch(5)

        assert EstimatingPaginator(Delivery.objects.all(), 2).count == 3


class TestFilters:
    def test_by_integrator_are_for_those_who_may_look_it_up(self, client, db):
        client.force_login(person("dora", "view_delivery"))
        without = client.get(LIST).content.decode()
        client.force_login(person("ana", "view_delivery", "view_integrator"))

        assert "By integrator" not in without
        assert "integrator__id__exact" in client.get(LIST).content.decode()

    @pytest.mark.parametrize(("state", "names"), [("waiting", ["PENDING"]), ("dead", ["ACCEPT"]), ("unaddressed", [])])
    def test_of_events_go_by_what_became_of_them(self, admin_client, state, names):
        token = TokenFactory.create()
        token.integrator.endpoints.update(url="http://127.0.0.1:9/")
        DeliveryFactory.create(token=token, accepted=True)
        WebhookEvent.objects.filter(name="ACCEPT").update(state="dead")

        page = admin_client.get(reverse("admin:delivery_webhookevent_changelist"), {"state": state})

        assert [event.name for event in page.context["cl"].result_list] == names


class TestSearch:
    def test_finds_events_and_who_moved_what(self, admin_client):
        delivery = DeliveryFactory.create()
        delivery.transitions.create(trigger="x", status="x", route_status="x", by="user dora", at=timezone.now())
        DeliveryFactory.create(stops=1)
        of_events = (delivery.pk, delivery.events.get().pk, "order-2")
        of_transitions = (delivery.pk, "order-2", "user dora")

        for name, terms in (("webhookevent", of_events), ("transition", of_transitions)):
            for term in terms:
                page = admin_client.get(reverse(f"admin:delivery_{name}_changelist"), {"q": str(term)})

                assert {row.delivery for row in page.context["cl"].result_list} == {delivery}, term


class TestHistories:
    @pytest.mark.parametrize("name", ["auditentry", "transition"])
    def test_are_looked_at_only(self, admin_client, name):
        DeliveryFactory.create()
        listed = admin_client.get(reverse(f"admin:delivery_{name}_changelist")).context["cl"].result_list

        page = admin_client.get(reverse(f"admin:delivery_{name}_change", args=[listed[0].pk]))

        assert page.context["has_change_permission"] is False
        assert admin_client.get(reverse(f"admin:delivery_{name}_add")).status_code == 403


class TestDeliverysPage:
    def test_leads_to_the_attempts_of_each_event(self, admin_client):
        delivery = DeliveryFactory.create()

        page = admin_client.get(reverse("admin:delivery_delivery_change", args=[delivery.pk])).content.decode()

        assert reverse("admin:delivery_webhookevent_change", args=[delivery.events.get().pk]) in page


class TestDriversPage:
    @pytest.fixture
    def driver(self, db):
        driver = DriverFactory.create()
        for _number in range(25):
            drivers.set_position(driver=driver, point=PICKUP, by=BY, at=timezone.now())
        return driver

    def page(self, client, driver):
        return client.get(reverse("admin:delivery_driver_change", args=[driver.pk]))

    def test_shows_the_latest_positions(self, admin_client, driver):
        (inline,) = self.page(admin_client, driver).context["inline_admin_formsets"]

        shown = [form.instance for form in inline.formset.initial_forms]

        assert shown == list(driver.positions.order_by("-recorded_at")[:20])

    def test_is_saved_while_the_driver_moves_on(self, admin_client, driver):
        (inline,) = self.page(admin_client, driver).context["inline_admin_formsets"]
        formset = inline.formset
        data = {f"positions-{name}": value for name, value in formset.management_form.initial.items()}
        data |= {f"positions-{n}-id": form.instance.pk for n, form in enumerate(formset.initial_forms)}
        for _number in range(3):
            drivers.set_position(driver=driver, point=PICKUP, by=BY, at=timezone.now())

        fields = {"name": "New name", "vehicle_type": "CAR", "environment": "live", **data}
        response = admin_client.post(reverse("admin:delivery_driver_change", args=[driver.pk]), fields)

        assert response.status_code == 302
        assert Driver.objects.get().name == "New name"
        assert driver.positions.count() == 28

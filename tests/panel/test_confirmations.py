"""Questions before what cannot be undone: the answer is to what was shown, and not to what has come since."""

import re

import pytest
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, Tariff
from integration.manifests import actions as manifests
from integration.models import Manifest
from tests.factories import BY, DeliveryFactory, TariffFactory
from tests.integration.factories import create_order

_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')


def agreed(html, name):
    """The hidden fields of the form of a page that has one of this name."""
    forms = [dict(_HIDDEN.findall(form)) for form in re.findall(r"<form.*?</form>", html, re.DOTALL)]
    [found] = [fields for fields in forms if name in fields]
    return found


class Cancellation:
    """Of a route that the driver collects meanwhile: the fee is the same, and the goods come back to A then."""

    def __init__(self, shop):
        TariffFactory.create()
        Tariff.objects.update(cancel_percent_accepted=100)
        self.delivery = DeliveryFactory.create(token=shop.token, accepted=True)

    def change(self):
        deliveries.collect(delivery=self.delivery, by=BY, at=timezone.now())

    def is_done(self):
        return Delivery.objects.get(pk=self.delivery.pk).cancelled_at is not None


class InThePanel(Cancellation):
    role = "member"

    def ask(self, browser):
        self.page = reverse("panel:cancel", args=[self.delivery.integrator_id, "live", self.delivery.pk])
        return agreed(browser.get(self.page).content.decode(), "route_status")

    def confirm(self, browser, fields):
        return browser.post(self.page, fields)


class OnTheBoard(Cancellation):
    role = "dispatcher"

    def ask(self, browser):
        self.page = reverse("panel:board_move", args=[self.delivery.pk, "cancel"])
        return agreed(browser.get(self.page).content.decode(), "route_status")

    def confirm(self, browser, fields):
        return browser.post(self.page, fields)


class InTheAdmin(Cancellation):
    role = "dispatcher"
    page = reverse("admin:delivery_delivery_changelist")

    def ask(self, browser):
        chosen = {"action": "move_cancel", "_selected_action": [str(self.delivery.pk)]}
        page = browser.post(self.page, chosen).context
        return {**chosen, "confirmed": "yes", **{f"agreed-{row.pk}": row.agreed for row in page["rows"]}}

    def confirm(self, browser, fields):
        return browser.post(self.page, fields)


class ClosingAManifest:
    """In which another order takes the place of one meanwhile."""

    role = "member"

    def __init__(self, shop):
        self.seller = shop.seller
        self.orders = [create_order(self.seller, orderId=f"A-{number}") for number in range(2)]
        self.manifest = manifests.create(
            seller=self.seller, environment="live", orders=self.orders[:1], by=BY, at=timezone.now()
        )

    def address(self, name):
        return reverse(f"panel:{name}", args=[self.seller.pk, "live", self.manifest.pk])

    def ask(self, browser):
        return agreed(browser.get(self.address("seller_manifest")).content.decode(), "orders")

    def confirm(self, browser, fields):
        return browser.post(self.address("seller_manifest_close"), fields, follow=True)

    def change(self):
        manifests.remove(manifest=self.manifest, orders=self.orders[:1], by=BY)
        manifests.add(manifest=self.manifest, orders=self.orders[1:], by=BY)

    def is_done(self):
        return Manifest.objects.get().closed_at is not None


@pytest.mark.parametrize(
    ("question", "told"),
    [
        (InThePanel, "Something has changed meanwhile."),
        (OnTheBoard, "the fee is another one"),
        (InTheAdmin, "Something has changed meanwhile."),
        (ClosingAManifest, "have changed meanwhile."),
    ],
)
def test_a_confirmation_is_of_what_was_shown(question, told, shop, as_role):
    asked, browser = question(shop), as_role(question.role)
    fields = asked.ask(browser)
    asked.change()

    again = asked.confirm(browser, fields)

    assert told in again.content.decode()
    assert not asked.is_done()
    asked.confirm(browser, asked.ask(browser))
    assert asked.is_done()

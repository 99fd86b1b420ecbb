"""One thing has one name in the panel, the admin and the glossary."""

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.urls import reverse
from django.utils import timezone, translation

from delivery.actions.moves import perform
from delivery.lifecycle import Mode
from delivery.models import FAILING, STATE_NAMES, EventState, WebhookEvent, WebhookQueueItem
from tests.cases import in_turn
from tests.factories import BY, DeliveryFactory, DriverFactory

_GLOSSARY = (Path(settings.BASE_DIR) / "docs" / "glossary.md").read_text()


@pytest.fixture(params=["en", "pt-br"])
def language(request):
    return request.param


@pytest.fixture
def event_in(with_url):
    """An event of the shop in a state."""

    def make(state):
        event = DeliveryFactory.create(token=with_url.token).events.get()
        columns = {"state": EventState.PENDING, "attempts_made": 1} if state == FAILING else {"state": state}
        WebhookEvent.objects.filter(pk=event.pk).update(**columns)
        if columns["state"] != EventState.PENDING:
            WebhookQueueItem.objects.filter(event=event).delete()
        return event

    return make


def words_of(page):
    return " ".join(re.sub(r"<[^>]+>", " ", page.content.decode()).split())


@pytest.mark.parametrize("state", STATE_NAMES)
def test_a_state_of_events_has_one_name(as_role, url, event_in, state, language):
    event = event_in(state)
    browser = as_role("superuser")
    browser.cookies[settings.LANGUAGE_COOKIE_NAME] = language
    with translation.override(language):
        name = str(STATE_NAMES[state])
    pages = [
        browser.get(url("events"), {"state": state, "q": str(event.delivery_id)}),
        browser.get(url("event", event.pk)),
        browser.get(url("delivery", event.delivery_id)),
        browser.get(reverse("admin:delivery_webhookevent_changelist"), {"q": str(event.pk)}),
        browser.get(reverse("admin:delivery_webhookevent_change", args=[event.pk])),
    ]

    assert [page.status_code for page in pages] == [200] * len(pages)
    assert [name in words_of(page) for page in pages] == [True] * len(pages)
    assert f"| {name} |" in _GLOSSARY


@pytest.mark.parametrize("state", [FAILING, EventState.DEAD, EventState.UNADDRESSED])
def test_the_filters_of_panel_and_admin_find_the_same_events(as_role, url, event_in, state):
    events = {each: event_in(each) for each in STATE_NAMES}
    browser = as_role("superuser")

    in_panel = {event.pk for event in browser.get(url("events"), {"state": state}).context["rows"]}
    in_admin = browser.get(reverse("admin:delivery_webhookevent_changelist"), {"state": state}).context["cl"].queryset

    assert events[state].pk in in_panel
    assert {event.pk for event in in_admin} == in_panel


class TestStatusOfTheWhole:
    """What pages call a delivery that did not end as it should."""

    @in_turn(
        ("mode", "moves", "name"),
        [
            (Mode.DEFAULT, "cancel", "Cancelled"),
            (Mode.DEFAULT, "accept, collect, fail B, return", "Not delivered"),
            (Mode.REVERSE, "accept, fail B", "Not collected"),
            (Mode.REVERSE, "accept, collect B, cancel", "On the way to A, cancelled"),
            (Mode.REVERSE, "accept, collect B, return", "Delivered"),
        ],
    )
    def test_follows_its_mode_and_its_end(self, member, url, shop, mode, moves, name):
        delivery = DeliveryFactory.create(token=shop.token, stops=1, mode=mode, driver=DriverFactory.create())

        for move in moves.split(", "):
            verb, _space, point = move.partition(" ")
            fields = {"point": point, "code": "ABSENT"}
            perform(verb, delivery=delivery, fields=fields, by=BY, at=timezone.now())

        for page in (url("delivery", delivery.pk), url("receipt", delivery.pk), url("deliveries")):
            assert f">{name}</span>" in member.get(page).content.decode()

    @pytest.mark.parametrize(("mode", "text"), [(Mode.DEFAULT, "this delivery"), (Mode.REVERSE, "the pickups")])
    def test_is_asked_about_in_the_words_of_the_mode(self, member, url, shop, mode, text):
        moves = [("accept", ""), ("collect", "B" if mode == Mode.REVERSE else "")]
        delivery = DeliveryFactory.create(token=shop.token, stops=2, mode=mode, driver=DriverFactory.create())
        for verb, point in moves:
            perform(verb, delivery=delivery, fields={"point": point}, by=BY, at=timezone.now())

        asked = words_of(member.get(url("cancel", delivery.pk)))

        assert f"Cancel {text}" in asked
        assert ("takes the goods back to A" in asked) is (mode == Mode.DEFAULT)
        assert ("brings what was collected to A" in asked) is (mode == Mode.REVERSE)

"""Words of pages for what the code names."""

import pytest

from common.actors import actor_name
from delivery import words
from delivery.lifecycle import Mode, OnFailure, RouteStatus, Status, Trigger


def test_every_trigger_has_a_label_in_the_history():
    assert set(words.TRIGGERS) == {"request", "note", "change", *Trigger}


def test_every_status_has_a_name():
    assert (set(words.STATUSES), set(words.ROUTE_STATUSES), set(words.MODES)) == (
        set(Status),
        set(RouteStatus),
        set(Mode),
    )


def test_every_policy_has_a_name_and_a_name_as_an_answer():
    assert set(words.POLICIES) == set(words.ANSWERS) == set(OnFailure)


def test_every_word_of_a_refusal_is_translated():
    codes = {*Trigger, *Status, *RouteStatus} - {Trigger.EXPIRE}

    assert {str(word) for word in codes} <= words.CODES


@pytest.mark.parametrize(
    ("actor", "shown"),
    [("command create_seller", "command line (create_seller)"), ("user ana", "ana"), ("driver Ana", "driver Ana")],
)
def test_an_actor_is_named_with_its_kind_unless_it_is_a_person(actor, shown):
    assert actor_name(actor) == shown

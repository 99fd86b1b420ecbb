"""Words of pages for what the code names."""

from delivery import forms
from delivery.lifecycle import RouteStatus, Status, Trigger
from panel.templatetags import panel


def test_every_trigger_has_a_label_in_the_history():
    assert set(panel._TRIGGERS) == {"request", *Trigger}


def test_every_word_of_a_refusal_is_translated():
    words = {*Trigger, *Status, *RouteStatus} - {Trigger.EXPIRE}

    assert {str(word) for word in words} <= forms._CODES

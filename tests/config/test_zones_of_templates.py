"""Each moment that a template prints is by the clocks of a place, or of the installation where that is no place.

A new template that prints one fails until it stands in a list. A row of a list needs no entry if it prints its moments
by `moment_in`, or between `{% timezone %}` and its end.
"""

import ast
import re

from django.conf import settings

from tests.sources import modules

TEMPLATES = settings.BASE_DIR / "templates"
_MOMENT = re.compile(
    r"{[{%][^}]*?(?:\|(?:date:.SHORT_DATETIME|time:.H:i|moment\b(?!_)|time_of_day\b|window\b)|\b\w+_at\s*}})"
)
_OF_ROW = re.compile(r"{% timezone .*?{% endtimezone %}", re.DOTALL)
# Of one place: the view has its zone, for the whole page or this part of it.
OF_PLACE = {
    "admin/delivery/delivery/changes.html", "admin/delivery/delivery/goods.html",
    "admin/delivery/delivery/history.html", "admin/delivery/delivery/summary.html", "driver_app/duty_spans.html",
    "panel/arrival.html",
    "panel/board_card.html", "panel/board_stop.html", "panel/delivery_history.html", "panel/delivery_now.html",
    "panel/delivery_summary.html", "panel/draft.html", "panel/draft_people.html", "panel/driver.html",
    "panel/seller_draft.html",
    "panel/event.html", "panel/photos.html", "panel/pin_state.html", "panel/receipt.html", "panel/request_price.html",
    "panel/seller_invoice.html", "panel/seller_invoices.html", "panel/seller_manifest.html",
    "panel/seller_manifests.html", "panel/seller_order.html", "panel/seller_orders.html", "panel/stop.html",
    "panel/stop_pairs.html", "tracking/arrival.html", "tracking/more.html", "tracking/order.html",
    "tracking/page.html", "tracking/proof.html",
}  # fmt: skip  # a list
# What happened at no place: keys, people, webhooks, calls. By the clocks of the installation, as the frame says.
OF_INSTALLATION = {
    "admin/integration/order/movements.html", "admin/suspension/change_form.html",
    "mail/alert_failing.txt", "mail/alert_off.txt", "mail/alert_recovered.txt", "mfa/index.html",
    "panel/activity.html", "panel/alerts.html", "panel/connection.html", "panel/drafts.html",
    "panel/seller_drafts.html", "panel/event_attempts.html", "panel/events.html",
    "panel/events_progress.html", "panel/key_state.html", "panel/list.html", "panel/personal_data.html",
    "panel/personal_data_rows.html", "panel/recover.html", "panel/refused_call.html", "panel/refused_calls.html",
    "panel/seller.html", "panel/seller_sheet.html", "panel/sheet.html", "panel/suspended.html", "panel/team.html",
    "panel/token.html", "panel/token_state.html", "panel/tokens.html", "panel/webhook.html",
    "panel/webhook_failure.html", "panel/webhook_state.html", "usersessions/usersession_list.html",
}  # fmt: skip  # a list


def test_templates_that_print_moments_are_known():
    texts = {str(path.relative_to(TEMPLATES)): path.read_text() for path in TEMPLATES.rglob("*") if path.is_file()}

    assert {name for name, text in texts.items() if _MOMENT.search(_OF_ROW.sub("", text))} == (
        OF_PLACE | OF_INSTALLATION
    )
    assert not OF_PLACE & OF_INSTALLATION


def test_views_render_those_of_a_place_in_its_zone():
    """Others are parts of such pages, or rendered between the two ends of a `timezone.override`."""
    calls = [
        node
        for name, source in modules()
        if re.match(r"panel/(\w+/)?views/", name)
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "page"
    ]
    pages = {call.args[0].value: call for call in calls if call.args and isinstance(call.args[0], ast.Constant)}
    of_place = {name: {word.arg for word in call.keywords} for name, call in pages.items() if name in OF_PLACE}

    assert len(of_place) > 8
    assert [name for name, words in of_place.items() if "in_zone_of" not in words] == []

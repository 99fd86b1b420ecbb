"""The page Scan, with which depot staff move orders by scanning their parcels. It opens without a connection.

Bodies and answers of its calls are JSON, errors `{"code", "detail"}`.
"""

from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.utils.translation import gettext as _

from access import sessions
from access.rights import is_of_depot
from common import clock
from common.accounts import Environment
from common.actors import actor
from common.api.json_body import BodyTooLarge
from common.pages.device_data import (
    MOST_AT_ONCE,
    InvalidDeviceData,
    Unreadable,
    error,
    identifier,
    items,
    moment,
    read_body,
    text,
    wrong,
)
from common.pages.offline_pages import OfflinePage
from delivery.refusals import refusal
from integration import words
from integration.carriers import movements
from integration.carriers.movements import Movement, Outcome
from integration.errors import IntegrationError
from integration.lifecycle import BY_CARRIER, TABLE, Status
from integration.models import Order, StatusLog
from integration.models.order import LONGEST_CODE, LONGEST_PLACE, LONGEST_REASON
from panel.base import LoggedInView, user_of

_LIBRARY = "npm/@zxing/library/umd/index.min.js"
# Of scans: one that was made less than this before is dated when it arrives, because calls take different times to
# arrive: of two scans of a parcel the later one might seem to be the earlier one.
_RECENT = timedelta(seconds=30)
_OLDEST = timedelta(days=30)  # one that seems to be older than this, too: the clock was set
_LONGEST_ARRIVAL = timedelta(minutes=1)
_MOST_SELLERS = 100  # that a person chooses from
_LONGEST_WORD = 36  # of statuses, codes of reasons, and references of sellers


class ScanView(LoggedInView, PermissionRequiredMixin):
    permission_required = "integration.scan_order"


class Shell(ScanView):
    """The same page for everybody who may scan: what it shows is in its scripts and on the device."""

    http_method_names = ["get"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return PAGE.shell()


class Worker(ScanView):
    """The service worker."""

    http_method_names = ["get"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return PAGE.service_worker()


class _Call(ScanView):
    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except BodyTooLarge:
            return error(413, "body_too_large", _("Too much was sent at once."))
        except InvalidDeviceData as refused:
            return error(refused.status, refused.code, refusal(refused))

    def handle_no_permission(self) -> Any:
        if not self.request.user.is_authenticated:
            return self.logged_out()
        return error(403, "forbidden", _("You may not scan."))

    def logged_out(self) -> HttpResponse:
        return error(401, "logged_out", _("You are logged out."))

    def answer(self, **more: Any) -> JsonResponse:
        """With who is logged in, and the token that the next call has to send."""
        user = user_of(self.request)
        name = user.get_full_name() or user.get_username()
        person = {"id": user.pk, "name": name, "hasPanel": not is_of_depot(user)}
        response = JsonResponse({**more, "csrf": get_token(self.request), "person": person})
        sessions.unmark_browser(self.request, response)
        return response


class State(_Call):
    http_method_names = ["get"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return self.answer()


class Movements(_Call):
    """Scans of one person in the order in which they were made. Each has an outcome; a repetition changes nothing."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        body = read_body(request)
        person = user_of(request)
        if body.get("person") != person.pk:  # somebody else has logged in beside the page
            return self.logged_out()
        found = items(body, "movements", MOST_AT_ONCE, partial(_movement, body=body, at=now))
        scans = [each for each in found if not isinstance(each, Unreadable)]
        orders, by = Order.objects.filter(environment=Environment.LIVE), actor(request)
        outcomes = movements.record(
            _in_sequence(scans, orders=orders, by=by, at=now),
            orders=orders,
            source=f"user {person.pk}",
            by=by,
            at=now,
            most_sellers=_MOST_SELLERS,
        )
        recorded = iter(outcomes)
        return self.answer(
            outcomes=[_unread(each) if isinstance(each, Unreadable) else _answered(next(recorded)) for each in found]
        )


def _movement(item: dict[str, Any], *, body: dict[str, Any], at: datetime) -> Movement:
    age = _age(item, body)
    status = text(item, "status", _LONGEST_WORD)
    if status not in BY_CARRIER:
        raise wrong("status")
    code = text(item, "code", LONGEST_CODE)
    if not code:
        raise wrong("code")
    return Movement(
        event_id=str(identifier(item, "id")),
        tracking_code=code,
        status=Status(status),
        seller=text(item, "seller", _LONGEST_WORD),
        reason_code=text(item, "reasonCode", _LONGEST_WORD),
        reason=text(item, "reason", LONGEST_REASON),
        place=text(item, "place", LONGEST_PLACE),
        happened_at=at - age if _RECENT <= age <= _OLDEST else None,
    )


def _age(item: dict[str, Any], body: dict[str, Any]) -> timedelta:
    """How old a scan is, by the device's clock, whatever its error; as if it was made now if a moment is unreadable."""
    try:
        return moment(body, "sentAt") - moment(item, "scannedAt")
    except InvalidDeviceData:
        return timedelta()


def _in_sequence(scans: list[Movement], *, orders: QuerySet[Order], by: str, at: datetime) -> list[Movement]:
    """These scans, none of them dated before an entry that the same person has made by an earlier scan.

    A scan that is sent at once is dated when it arrives. One that was made seconds after it, and is sent later, has the
    moment of the device, which may be before that arrival.
    """
    if not any(scan.happened_at for scan in scans):
        return scans
    found = movements.find(scans, orders)
    entries = StatusLog.objects.filter(order__in=found.orders, by=by).order_by("order_id", "-pk").distinct("order_id")
    last = {entry.order_id: entry.occurred_at for entry in entries}
    dated = []
    for scan in scans:
        moment_of_scan = scan.happened_at or at
        try:
            order = found.order_of(scan).pk
        except IntegrationError:  # it is refused when it is recorded
            dated.append(scan)
            continue
        if timedelta() < last.get(order, moment_of_scan) - moment_of_scan < _LONGEST_ARRIVAL:
            moment_of_scan = last[order]
            dated.append(replace(scan, happened_at=moment_of_scan))
        else:
            dated.append(scan)
        last[order] = moment_of_scan
    return dated


def _answered(outcome: Outcome) -> dict[str, Any]:
    order = outcome.order
    return {
        "id": outcome.event_id,
        "kind": _kind(outcome),
        "code": outcome.code,
        "detail": outcome.text,
        "orderId": order.code if order else "",
        "sellerName": order.seller.name if order else "",
        "now": outcome.status if outcome.succeeded else "",
        "sellers": [{"reference": reference, "name": name} for reference, name in outcome.sellers],
    }


def _unread(scan: Unreadable) -> dict[str, Any]:
    """The answer to a scan that cannot be read."""
    texts = {"code": scan.error.code, "detail": refusal(scan.error), "orderId": "", "sellerName": "", "now": ""}
    return {"id": scan.id, "kind": "refused", **texts, "sellers": []}


def _kind(outcome: Outcome) -> str:
    if not outcome.succeeded:
        return "refused"
    return "already" if outcome.was_already else "done"


def _texts() -> dict[str, str]:
    """The texts in the language of the request, by the names that the modules use."""
    moves = {current: [words.STATUSES[to] for to in to_each if to in BY_CARRIER] for current, to_each in TABLE.items()}
    return {
        **{f"status.{status}": str(name) for status, name in words.STATUSES.items()},
        **{f"reason.{code}": str(name) for code, name in words.REASONS.items()},
        **{f"next.{current}": ", ".join(map(str, names)) for current, names in moves.items()},
        "error.unreachable": _("No connection. Try again when you have signal."),
        "error.kept": _("This device cannot keep anything: its storage is full or switched off."),
        "error.camera": _("This device has no camera that the page can use."),
        "error.camera_denied": _("The camera is blocked for this page. Allow it in the browser's settings."),
        "error.camera_stopped": _("The camera has stopped. Switch it on again."),
        "error.move": _("Choose what you scan for."),
        "error.reason": _("Choose the reason."),
        "error.other": _("Write the reason."),
    }


def _render(modules: list[str]) -> str:
    return render_to_string(
        "scan/shell.html",
        {
            "modules": modules,
            "texts": _texts(),
            "statuses": [(status.value, words.STATUSES[status]) for status in BY_CARRIER],
            "reasons": [(code.value, name) for code, name in words.REASONS.items()],
            "library": static(_LIBRARY),
            "person_changed": settings.PERSON_CHANGED_COOKIE_NAME,
        },
    )


PAGE = OfflinePage(
    name="scan",
    folder=Path(__file__).parents[2] / "static" / "scan",
    url="panel:scan",
    render=_render,
    others=("panel/icon.svg",),
    later=(_LIBRARY,),
)

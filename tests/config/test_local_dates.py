"""Every date and time of day that the product takes from a moment is that of the service's time zone, or is reviewed.

A moment from the clock or from PostgreSQL is in UTC, and its date there is that of tomorrow from 21:00 in Brazil.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.sources import functions, modules

_PARTS = {"year", "month", "day", "hour"}
_METHODS = {"date", "weekday", "isoweekday", "isocalendar", "strftime", "timetuple", "astimezone", "make_aware"}
_ZONE = {"tzinfo", "tz"}
_ANY = re.compile(r"year|month|day|hour|date|strftime|%[YmdH]|isocalendar|timetuple|astimezone|make_aware|tz|zone")
_SQL = ("::date", "date_trunc", "date_part", "extract(year", "extract(month", "extract(day", "at time zone")
_LOCAL = {"timezone.localtime", "timezone.localdate"}

REVIEWED = {
    "common/pages/device_data.py": {"value.year"},  # only whether arithmetic with it can overflow
    "common/api/pagination.py": {
        "timezone.make_aware(moment)",  # a parameter without an offset is in the service's time zone
        "aware.astimezone(UTC)",  # of the same moment
        # What has no moment in UTC is the end of time, or its beginning.
        "moment.year",
        "datetime.min.replace(tzinfo=UTC)",
        "datetime.max.replace(tzinfo=UTC)",
    },
    "common/shops/samples.py": {  # of WooCommerce's date_created_gmt, and in UTC where a zone is named
        "at.astimezone(UTC)", "at.replace(microsecond=0, tzinfo=None)", "f'{at:%Y-%m-%d %H:%M:%S.%f}'",
        "f'{at:%Y-%m-%d %H:%M:%S}'",
    },
    "common/shops/values.py": {  # of the same moment, which has the zone of its platform
        "found.replace(tzinfo=zone)", "(found if found.tzinfo else found.replace(tzinfo=zone)).astimezone(UTC)",
    },
    "delivery/streets/copying.py": {"f'{day:%Y%m%d}'"},  # of maps, which are of days in UTC
    "integration/carriers/movement_files.py": {"timezone.make_aware(datetime.combine(day, part))"},  # a local day
    # An invoice has the local time of its place, without a zone, and so it is typed.
    "panel/sellers/order_forms.py": {"f'{timezone.make_naive(moment):%Y-%m-%d %H:%M:%S}'"},
    "config/management/commands/messages.py": {"datetime.fromtimestamp(0, tz=UTC)"},  # a constant
    "common/brazil/zones.py": {"at.astimezone(zone)", "at.astimezone(timezone.get_default_timezone())"},  # of a place
    "delivery/hours/actions.py": {"opens_at.astimezone(zone)"},  # of the pickup
    "config/views.py": {"(clock.now() + _LIFETIME).strftime('%Y-%m-%dT%H:%M:%SZ')"},  # Z: the clock gives UTC
    "delivery/hours/timetable.py": {  # hours are told by the clocks of the timetable's zone
        "at.astimezone(self.zone)", "at.astimezone(self.zone).date()", "second.astimezone(self.zone)",
        "(second + timedelta(minutes=number)).astimezone(self.zone)", "self.day",
        "found.hour", "datetime.strptime(text[:_CUT_DATE], form).date()", "day.weekday()",
        "wall.replace(tzinfo=self.zone, fold=fold)", "wall.replace(tzinfo=self.zone, fold=fold).astimezone(UTC)",
    },
    "delivery/actions/proofs.py": {  # folders of photos are days in UTC
        "at.astimezone(UTC)", "at.astimezone(UTC).date()", "oldest.year", "oldest.month", "oldest.day",
        "datetime(oldest.year, oldest.month, oldest.day, tzinfo=UTC)", "day.year", "day.month", "day.day",
        "datetime(day.year, day.month, day.day, tzinfo=UTC)",
    },
    "delivery/models/stop.py": {
        "self.received_at.astimezone(UTC)", "f'{self.received_at.astimezone(UTC):%Y-%m-%d}'",
        "f'{self.arrives_at:%H:%M}'",
    },
    "delivery/api/fields.py": {"datetime.fromisoformat(data.upper()).astimezone(UTC)"},  # of the same moment
    "common/commands.py": {"timezone.make_aware(moment)"},  # typed without an offset
    "delivery/alerts/models.py": {"f'{self.created_at:%Y-%m-%d %H:%M}'"},  # for developers, here and below
    "delivery/models/driver.py": {"f'{self.expires_at:%H:%M}'"},
    "common/api/refused_calls.py": {"self.hour"},  # a column
    "common/pages/periods.py": {  # of dates
        "day.replace(day=1)", "(first + 31 * _DAY).replace(day=1)", "self.first.replace(day=1)",
    },
    "common/brazil/business_days.py": {"day.year", "day.weekday()"},  # of a date
    "panel/integrators/views/account.py": {"f'{midnight:%Y-%m-%dT%H:%M}'"},  # the local midnight
    "common/webhooks/retry.py": {"moment.replace(tzinfo=UTC)"},  # RFC 9110: dates of HTTP are in GMT
    "integration/actions/forgetting.py": {"timezone.make_aware(datetime(year, 1, 1))"},  # the local new year
    "integration/bodies.py": {  # area B answers in UTC
        "moment.astimezone(UTC)", "moment.astimezone(UTC).strftime('%Y-%m-%dT%H:%M:%S.%fZ')",
    },
    "integration/papers/label.py": {"f'{order.promised_on:%d/%m/%Y}'"},  # a date
    "integration/invoices/nfe.py": {"moment.year", "moment.replace(tzinfo=_BRASILIA)"},  # Brasília's time
}  # fmt: skip  # a table


def _is_local(node: ast.expr, local: set[str]) -> bool:
    """Whether an expression is a moment or date in the service's time zone, by its own text or by `local` names."""
    if isinstance(node, ast.Name):
        return node.id in local
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return ast.unparse(node.func) in _LOCAL or _is_local(node.func.value, local)
    return isinstance(node, ast.BinOp) and _is_local(node.left, local)


def _suspects(node: ast.AST, local: set[str]) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        method = node.func if isinstance(node.func, ast.Attribute) else None
        if method is not None and _is_local(method.value, local):
            return
        named = {each.arg for each in node.keywords}
        is_replaced = method is not None and method.attr == "replace" and named & _PARTS
        if is_replaced or named & _ZONE or (method is not None and method.attr in _METHODS):
            yield node
    elif isinstance(node, ast.Attribute) and node.attr in _PARTS and not _is_local(node.value, local):
        yield node
    elif isinstance(node, ast.FormattedValue) and "%" in ast.unparse(node.format_spec or ast.Constant("")):
        yield from [] if _is_local(node.value, local) else [ast.JoinedStr([node])]
    elif isinstance(node, ast.Constant) and any(word in str(node.value).lower() for word in _SQL):
        yield node


def found_in(source: str) -> set[str]:
    """The expressions that take a part of a moment, or change its time zone, without `timezone.localtime`."""
    found: set[str] = set()
    for scope in functions(source):
        local = {
            target.id
            for node in scope
            if isinstance(node, ast.Assign) and _is_local(node.value, set())
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        found |= {ast.unparse(suspect) for node in scope for suspect in _suspects(node, local)}
    return found


def test_no_part_of_a_moment_is_taken_in_utc():
    found = {path: found_in(source) for path, source in modules() if _ANY.search(source)}

    assert {path: expressions for path, expressions in found.items() if expressions} == REVIEWED


@pytest.mark.parametrize(
    "code",
    [
        "at.date()", "at.year", "at.replace(hour=0)", "f'{at:%d/%m}'", "at.strftime('%d')", "TruncDay('a', tzinfo=UTC)",
        "'SELECT at::date'", "clock.now().date()", "datetime.now(tz=UTC)",
    ],
)  # fmt: skip  # a list
def test_notices(code):
    assert found_in(f"def f(at):\n    return {code}")


@pytest.mark.parametrize(
    "code", ["timezone.localtime(at).date()", "timezone.localdate(at).year", "local.replace(hour=0)", "f'{local:%d}'"]
)
def test_accepts(code):
    assert found_in(f"def f(at):\n    local = timezone.localtime(at)\n    return {code}") == set()

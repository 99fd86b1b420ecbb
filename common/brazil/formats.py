"""How pages write values, in the notation of the reader's language. The panel and the admin use the same functions.

Dates and times without seconds are Django's business: `config.formats` sets their notation.
"""

from datetime import date as date_type
from datetime import datetime, timedelta, tzinfo
from decimal import Decimal
from math import ceil
from uuid import UUID

from django.template.defaultfilters import date, floatformat
from django.utils import timezone
from django.utils.formats import get_format, localize
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from common import clock
from common.brazil import zones
from common.brazil.states import with_hyphen

_SHORT_ID_LENGTH = 6  # the last characters of a UUIDv7 are random; with six, two rows of a page hardly ever agree
_CNPJ_LENGTH, _CPF_LENGTH = 14, 11
_MINUTE, _HOUR, _DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
_OLDEST_AGE = timedelta(days=30)


def money(value: Decimal) -> str:
    """An amount in reais: `R$ 19.466,30`."""
    return f"R$ {floatformat(value, '2g')}"


def number(value: float | Decimal) -> str:
    """With groups of three digits, and one decimal place if it is not whole: `1.061`, `2,5`."""
    return floatformat(value, "-1g")


def kilometres(value: float | Decimal) -> str:
    """A distance with at most two decimal places: `3.25 km`."""
    return f"{floatformat(value, '-2g')} km"


def centavos(value: int) -> str:
    """An amount in centavos, written in reais."""
    return money(Decimal(value) / 100)


def short_id(value: UUID | str) -> str:
    """The end of an id, for people to compare: `…d8ef90`."""
    return f"…{str(value)[-_SHORT_ID_LENGTH:]}"


def moment(value: datetime | None) -> str:
    """A moment in the active time zone, to the second; empty for None."""
    if value is None:
        return ""
    return date(timezone.localtime(value), f"{get_format('SHORT_DATETIME_FORMAT')}:s")


def moment_in(value: datetime | None, place: zones.Place) -> str:
    """A moment by the clocks of a place, with whose time that is where the installation's show another; empty for None.

    For lists with rows of several places. A page of one place has its zone as a whole.
    """
    if value is None:
        return ""
    with timezone.override(place.zone):
        text = moment(value)
    name = zones.name(place.zone, at=value)
    return f"{text} ({name})" if name else text


def named_moment(value: datetime) -> str:
    """As `moment`, with whose time it is, for texts that are read without their page: refusals and messages."""
    return f"{moment(value)} ({zones.called()})"


def day(value: date_type) -> str:
    """A day: `22/11/2026`."""
    return date(value, "SHORT_DATE_FORMAT")


def day_and_month(value: date_type) -> str:
    """A day of this year or the last: `22 Nov`, `22/11`."""
    return date(value, pgettext("format of a day without its year", "j M"))


def opening(value: datetime, zone: tzinfo | None = None) -> str:
    """A moment of the next days by its weekday, `Mon 08:00`, a later one with its date. None: the active zone."""
    local = timezone.localtime(value, zone)
    is_near = local.date() - timezone.localdate(clock.now(), zone) < 7 * _DAY
    return f"{date(local, 'D')} {date(local, 'H:i') if is_near else localize(local)}"


def age(value: datetime, *, at: datetime) -> str:
    """How long before `at` it was, such as `9 min ago`; the moment itself after 30 days, and for a later one."""
    passed = at - value
    if not timedelta() <= passed < _OLDEST_AGE:
        return str(localize(timezone.localtime(value)))
    if passed < _MINUTE:
        return _("%(count)s s ago") % {"count": passed.seconds}
    if passed < _HOUR:
        return _("%(count)s min ago") % {"count": passed // _MINUTE}
    if passed < 2 * _DAY:
        return _("%(count)s h ago") % {"count": passed // _HOUR}
    return ngettext("%(count)s day ago", "%(count)s days ago", passed.days) % {"count": passed.days}


def until(value: datetime, *, at: datetime) -> str:
    """How long after `at` it is, rounded up, such as `in 11 min`; the moment itself after two days."""
    left = value - at
    if left >= 2 * _DAY:
        return str(localize(timezone.localtime(value)))
    if left < _MINUTE:
        return _("in %(count)s s") % {"count": max(ceil(left.total_seconds()), 0)}
    minutes = ceil(left / _MINUTE)
    if minutes < _HOUR // _MINUTE:
        return _("in %(count)s min") % {"count": minutes}
    return _("in %(hours)s h %(minutes)s min") % dict(zip(("hours", "minutes"), divmod(minutes, 60), strict=True))


def ago(value: datetime) -> SafeString:
    """How long ago it was, as an element whose title is the moment."""
    return _element(value, age(value, at=clock.now()))


def ahead(value: datetime) -> SafeString:
    """How long it is until then, as an element whose title is the moment."""
    return _element(value, until(value, at=clock.now()))


def _element(value: datetime, text: str) -> SafeString:
    return format_html('<time datetime="{}" title="{}">{}</time>', value.isoformat(), moment(value), text)


def window(start: datetime | None, end: datetime | None, *, at: datetime) -> str:
    """From when and until when, such as `14:00 to 14:30`, with days that are not today. Empty without both."""
    today = timezone.localdate(at)
    begins, ends = _time_of_day(start, today), _time_of_day(end, timezone.localdate(start) if start else today)
    if begins and ends:
        return _("%(start)s to %(end)s") % {"start": begins, "end": ends}
    if begins:
        return _("from %(start)s") % {"start": begins}
    return _("until %(end)s") % {"end": ends} if ends else ""


def time_of_day(value: datetime, *, at: datetime) -> str:
    """Hours and minutes, after the day unless that is today: `09:31`, `27/11 09:31`."""
    return _time_of_day(value, timezone.localdate(at))


def _time_of_day(value: datetime | None, day: date_type) -> str:
    """The time, after its day unless it is this one."""
    if value is None:
        return ""
    local = timezone.localtime(value)
    return f"{local:%H:%M}" if local.date() == day else f"{day_and_month(local.date())} {local:%H:%M}"


def duration(value: timedelta) -> str:
    """Hours and whole minutes, as they are written in both languages: `6 h 40 min`, `40 min`. Less is `38 s`.

    None at all are `0 min`.
    """
    hours, minutes = divmod(value // _MINUTE, 60)
    seconds = value // timedelta(seconds=1)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min" if minutes or not seconds else f"{seconds} s"


def document(value: str) -> str:
    """A CNPJ or CPF with its mask; another text itself."""
    if len(value) == _CNPJ_LENGTH and value.isalnum():
        return f"{value[:2]}.{value[2:5]}.{value[5:8]}/{value[8:12]}-{value[12:]}"
    if len(value) == _CPF_LENGTH and value.isdecimal():
        return f"{value[:3]}.{value[3:6]}.{value[6:9]}-{value[9:]}"
    return value


def postcode(value: str) -> str:
    """A CEP with its hyphen, however it is written; another text itself."""
    return with_hyphen(value)

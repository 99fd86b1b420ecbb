"""The moments that rows are counted by."""

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

from common.pages.periods import Period

NOVEMBER = Period(date(2026, 11, 1), date(2026, 11, 30))
TICK, MINUTE, HOUR, DAY = timedelta(microseconds=1), timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
NOON = datetime(2026, 11, 22, 12, tzinfo=ZoneInfo("America/Sao_Paulo"))
REQUESTED = NOON - HOUR

"""What a worker does: it copies the streets around the pickup points."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q

from common import clock
from delivery.streets import copying, tiles
from delivery.streets.actions import AROUND_KM, UNDER_WAY, places
from delivery.streets.copying import Progress
from delivery.streets.errors import MapNotCopied, Stopped
from delivery.streets.models import CopyState, Streets

_log = logging.getLogger(__name__)
# Longer than a range may take that is asked for three times.
LEASE = timedelta(minutes=5)


def copy_due(is_stopping: Callable[[], bool] = lambda: False) -> None:
    """Copy the streets around the pickup points, if that was chosen and no other worker is at it."""
    now = clock.now()
    free = Streets.objects.filter(Q(leased_until=None) | Q(leased_until__lte=now), state__in=UNDER_WAY)
    if not free.update(state=CopyState.COPYING, leased_until=now + LEASE):
        return
    mine = Streets.objects.filter(state=CopyState.COPYING)
    try:
        _copy(now, is_stopping)
    except Stopped:
        mine.update(leased_until=None)  # of this process: another one goes on
    except MapNotCopied as error:
        _log.warning("The streets of maps were not copied: %s", error)
        mine.update(state=CopyState.FAILED, error=error.code, leased_until=None)
    else:
        mine.update(state=CopyState.DONE, leased_until=None)


def _copy(at: datetime, is_stopping: Callable[[], bool]) -> None:
    def tell(progress: Progress) -> None:
        shown = {"source": progress.source, "total_bytes": progress.total, "copied_bytes": progress.done}
        is_wanted = Streets.objects.filter(state=CopyState.COPYING).update(**shown, leased_until=clock.now() + LEASE)
        if is_stopping() or not is_wanted:
            raise Stopped

    copying.copy(
        [tiles.box(point, km=AROUND_KM) for point in places()],
        sources=copying.default_sources(at),
        to=settings.MAP_FILE,
        tell=tell,
        allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK,
    )

"""Rows that move by themselves, one step at a time. What a step is, says the area; the rows know when it is due."""

import logging
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, ClassVar, Generic, TypeVar

from django.db import InterfaceError, OperationalError, models, transaction
from django.db.models import Q

from common import clock
from common.fields import not_personal
from common.simulation.pace import FASTEST, SLOWEST

# Of an account at once.
MOST = 2000
_log = logging.getLogger(__name__)
# Pause after the first failure of a step; each further one doubles it.
_FAILURE_PAUSE = timedelta(seconds=1)
_MOST_DOUBLINGS = 8
LONGEST_PAUSE = _FAILURE_PAUSE * 2**_MOST_DOUBLINGS
# Longer than the interval of Celery beat's wake-ups.
_LOOK_AHEAD = timedelta(seconds=7)
_LONGEST_SLEEP = 0.2  # seconds, after which a simulation that began meanwhile can be due

Row = TypeVar("Row", bound="Simulation")


class SimulationQuerySet(models.QuerySet[Row]):
    def owners_due(self, *, at: datetime) -> list[Any]:
        """The ids of the accounts that have a simulation due at `at`."""
        owner = self.model.OWNER
        return list(self.filter(due_at__lte=at).order_by(owner).values_list(owner, flat=True).distinct())

    def is_full(self, owner: Any) -> bool:
        """Whether as many rows of the account move by themselves as may at once."""
        return self.filter(due_at__isnull=False, **{self.model.OWNER: owner})[:MOST].count() >= MOST

    def lock_due(self, owner: Any, *, at: datetime) -> Row | None:
        """The simulation of an account that has been due for longest at `at`, with what it moves, both rows locked.

        Rows that another transaction has locked are skipped. So this never waits for a move that a person makes, whose
        transaction locks what is moved first and its simulation afterwards.
        """
        subject = self.model.OWNER.partition("__")[0]
        due = self.filter(due_at__lte=at, **{self.model.OWNER: owner}).order_by("due_at").select_related(subject)
        return due.select_for_update(of=("self", subject), skip_locked=True, no_key=True).first()

    def next_due(self, *, after: datetime | None = None) -> datetime | None:
        """When the first of all simulations falls due, or of those that fall due after this moment."""
        due = self.filter(due_at__gt=after) if after else self.filter(due_at__isnull=False)
        return due.order_by("due_at").values_list("due_at", flat=True).first()


class Simulation(models.Model):
    """Abstract model of what moves by itself. Subclasses add the row that is moved, as their primary key.

    OWNER is the column of its account, such as `order__seller_id`, and a subclass has an index of `due_at`.
    """

    OWNER: ClassVar[str]

    speed = not_personal(models.FloatField())
    due_at = models.DateTimeField(null=True)  # when the next step is made; null while nothing happens
    failures = models.PositiveSmallIntegerField(default=0)  # of the present step, in a row

    class Meta:
        abstract = True

    def postpone(self, *, at: datetime) -> None:
        """After a step that failed and was rolled back."""
        failures = min(self.failures + 1, _MOST_DOUBLINGS + 1)
        pause = _FAILURE_PAUSE * 2 ** (failures - 1)
        type(self)._default_manager.filter(pk=self.pk).update(failures=failures, due_at=at + pause)


def speed_in_range(name: str) -> models.CheckConstraint:
    return models.CheckConstraint(name=name, condition=Q(speed__gte=SLOWEST, speed__lte=FASTEST))


class Simulator(Generic[Row]):
    """Advances the simulations of a model.

    `advance` makes the step of a locked row and plans the next one, in its transaction. `doing` says in the log what
    cannot go on, such as "the simulated driver of delivery".
    """

    def __init__(self, model: type[Row], advance: Callable[..., None], *, doing: str) -> None:
        self._rows: Any = model._default_manager
        self._advance, self._doing = advance, doing

    def advance_due(self, *, at: datetime) -> int:
        """Take one simulation of each account that has one due one step on, each in its own transaction.

        Returns how many were; call it again until there is none, so that accounts take turns. Several processes may do
        so at the same time: a simulation that another one has locked is skipped. A step that fails is rolled back,
        logged, and repeated after a pause of 1 s to 4 min. A lost connection is raised.
        """
        return sum(self._advance_one(owner, at=at) for owner in self._rows.owners_due(at=at))

    def advance_until_none_is_due(self, is_stopping: Callable[[], bool]) -> None:
        """Advance what is due, and wait for what falls due shortly. Without simulations this is one query."""
        due_at = self._rows.next_due()
        while due_at is not None and due_at - clock.now() <= _LOOK_AHEAD and not is_stopping():
            pause = (due_at - clock.now()).total_seconds()
            time.sleep(min(max(pause, 0), _LONGEST_SLEEP))
            now = clock.now()
            while not is_stopping() and self.advance_due(at=now):
                now = clock.now()
            due_at = self._rows.next_due(after=now)  # not those that another process is advancing

    def _advance_one(self, owner: Any, *, at: datetime) -> bool:
        """Advance one simulation of the account. Returns whether one was due."""
        simulation = None
        try:
            with transaction.atomic():
                simulation = self._rows.lock_due(owner, at=at)
                if simulation is not None:
                    self._advance(simulation, at=at)
        except (OperationalError, InterfaceError):
            raise
        except Exception:  # whatever a step raises: it is logged, and those of others go on
            if simulation is None:
                raise
            _log.exception("%s %s cannot go on", self._doing, simulation.pk)
            simulation.postpone(at=at)
        return simulation is not None

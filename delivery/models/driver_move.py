import pgtrigger
from django.db import models
from django.utils.translation import gettext_lazy as _

from common.fields import one_of
from common.forgetting import EMPTY, read_only_but_forgotten
from delivery.lifecycle import Trigger
from delivery.models.delivery import Delivery
from delivery.models.driver import Driver
from delivery.models.ids import Identified

# What a driver may report. An acceptance is no report: it needs the answer at once.
REPORTED = (Trigger.COLLECT, Trigger.DELIVER, Trigger.FAIL, Trigger.RETURN)


class DriverMove(Identified):
    """A move that a driver's phone has reported, and its outcome. Append-only.

    Phones report a move again until they have an answer. `report` is the phone's own id of the move, by which a
    repetition is found: it is given the outcome of the first. Written in the transaction of the move.
    """

    driver = models.ForeignKey(
        Driver,
        on_delete=models.CASCADE,
        related_name="moves",
        db_index=False,  # the unique index begins with it
    )
    report = models.UUIDField()
    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="driver_moves")
    trigger = models.CharField(max_length=10)
    point = models.CharField(max_length=1, blank=True)
    made_at = models.DateTimeField(_("made at"))
    received_at = models.DateTimeField(_("received at"))
    # Code of the error that refused it. Empty: it was done.
    refusal = models.CharField(max_length=60, blank=True)
    refusal_detail = models.CharField(max_length=500, blank=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["driver", "report"], name="driver_move_once"),
            one_of("driver_move_trigger", "trigger", [trigger.value for trigger in REPORTED]),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="driver_move_append_only", exclude=["refusal_detail"]),
            read_only_but_forgotten("driver_move_forgotten", {"refusal_detail": EMPTY}),
        ]

    def __str__(self) -> str:
        return f"{self.trigger} {self.point}".strip()

from argparse import ArgumentParser
from typing import Any
from uuid import UUID

from django.db.models import Q

from common import clock
from common.commands import JSONCommand, moment_of
from common.webhooks import replays
from delivery.models import Environment, EventState, WebhookEvent

_BY = "command replay_webhooks"


class Command(JSONCommand):
    in_transaction = False  # `replays.replay` commits in batches, so that deliveries do not wait for a large replay
    help = (
        "Send webhook events again, with the same ids and bodies, those of one delivery in order. Without --state only "
        'those that have no more retries. Prints {"replayed": NUMBER}, or {"error", "detail"} and exits with 1.'
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        whose = parser.add_mutually_exclusive_group(required=True)
        whose.add_argument("--event", type=UUID, metavar="ID", help="the webhook-id")
        whose.add_argument("--delivery", type=UUID, metavar="ID")
        whose.add_argument("--integrator", type=UUID, metavar="ID")
        parser.add_argument("--environment", choices=Environment.values)
        parser.add_argument("--endpoint", type=int, metavar="NUMBER", help="default: all of the account")
        parser.add_argument("--state", choices=[*EventState.values, "any"], help="default: dead, of one event any")
        parser.add_argument(
            "--since", metavar="TIME", help="made at this moment or later, such as 2026-11-20T08:00-03:00"
        )
        parser.add_argument("--until", metavar="TIME", help="made before this moment")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        state = options["state"] or ("any" if options["event"] else EventState.DEAD)
        chosen = {
            "endpoint__number": options["endpoint"],
            "delivery": options["delivery"],
            "endpoint__integrator": options["integrator"],
            "endpoint__environment": options["environment"],
            "state": None if state == "any" else state,
            "created_at__gte": options["since"] and moment_of(options["since"]),
            "created_at__lt": options["until"] and moment_of(options["until"]),
        }
        wanted = Q(
            **{name: value for name, value in chosen.items() if value is not None}, endpoint__number__isnull=False
        )
        if options["event"]:
            wanted &= _with_webhook_id(options["event"])
        if state == "any":
            wanted &= ~Q(state=EventState.FILTERED)
        replayed = replays.replay(events=WebhookEvent.objects.filter(wanted), by=_BY, at=clock.now())
        return {"replayed": replayed.total}


def _with_webhook_id(key: UUID) -> Q:
    """The events of one change, one for each endpoint; found by their delivery, because no index has the copies."""
    of_change = WebhookEvent.objects.filter(pk=key, delivery__isnull=False).values_list("delivery", "sequence").first()
    return Q(delivery=of_change[0], sequence=of_change[1]) if of_change else Q(pk=key)

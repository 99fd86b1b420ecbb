import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand

from config.environment import Web
from dev.demo import immediate, orders
from dev.demo.client import DemoFailed, check_service


class Command(BaseCommand):
    help = "Check a running service end to end: call both APIs, receive webhooks, compare with the specification."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--url", default=f"http://127.0.0.1:{Web().PORT}", help="the running service")

    def handle(self, *_args: Any, **options: Any) -> None:
        try:
            check_service(options["url"])
            self.stdout.write("Immediate delivery: quote, three drop-offs, two delivered, one failed and returned\n")
            immediate.check(url=options["url"], say=self._say)
            self.stdout.write("Order integration: quote, order, invoice, tracking, cancellation\n")
            orders.check(url=options["url"], say=self._say)
        except DemoFailed as error:
            self.stdout.write(f"\nFAILED: {error}")
            sys.exit(1)
        self.stdout.write(
            f"\nPASSED: every step answered as specified, {len(immediate.EXPECTED)} of "
            f"{len(immediate.EXPECTED)} webhooks in order"
        )

    def _say(self, line: str) -> None:
        self.stdout.write(f"  {line}")
        self.stdout.flush()

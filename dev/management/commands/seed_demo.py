import json
from typing import Any

from django.core.management.base import BaseCommand
from django.db import transaction

from common import clock
from delivery.models import Environment, Token
from dev.demo import addresses, data, day
from integration.models import Seller


class Command(BaseCommand):
    help = (
        "Fill an empty database with tariffs, a demo account, a seller, drivers, a log-in, and a day's deliveries and "
        "orders. Prints the credentials as JSON, the only time that they are shown; null for a database in use, which "
        "is left unchanged."
    )

    @transaction.atomic
    def handle(self, *_args: Any, **_options: Any) -> None:
        credentials = data.seed()
        if credentials is not None:
            token, seller = Token.objects.get(environment=Environment.LIVE), Seller.objects.get()
            at = clock.now()
            addresses.fill(at=at)
            day.fill(token=token, seller=seller, company=data.COMPANY, at=at)
        self.stdout.write(json.dumps(credentials))

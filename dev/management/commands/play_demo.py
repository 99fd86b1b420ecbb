import os
import time
from typing import Any, NoReturn

from django.core.management.base import BaseCommand, CommandError

from common import clock
from config.env import is_embedded
from dev.demo.life import Life

_NICE = 10  # what people do comes first


class Command(BaseCommand):
    help = (
        "Let the demo's day go on until it is ended: its drivers move, and new deliveries come. `make run` starts it."
    )

    def handle(self, *_args: Any, **_options: Any) -> NoReturn:
        if not is_embedded():
            raise CommandError("Only the demo of an embedded database goes on by itself.")
        os.nice(_NICE)
        life = Life(at=clock.now())
        while True:
            time.sleep(life.step(at=clock.now()))

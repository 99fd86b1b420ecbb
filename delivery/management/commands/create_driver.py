from argparse import ArgumentParser
from typing import Any

from common import clock
from common.commands import JSONCommand
from delivery.actions import drivers, moves
from delivery.models import Driver, Environment, VehicleType

_BY = "command create_driver"


class Command(JSONCommand):
    help = 'Create a driver, active and on duty. Prints {"driver"}.'

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("name")
        parser.add_argument("--vehicle", required=True, choices=VehicleType.values)
        parser.add_argument("--phone", default="")
        parser.add_argument("--position", default="", metavar="LAT,LNG")
        parser.add_argument("--sandbox", action="store_true", help="a driver of sandbox deliveries only")

    def run(self, options: dict[str, Any]) -> dict[str, str]:
        driver = Driver(
            name=options["name"],
            phone=options["phone"],
            vehicle_type=options["vehicle"],
            environment=Environment.SANDBOX if options["sandbox"] else Environment.LIVE,
            on_duty=True,
        )
        driver.full_clean()
        drivers.save(driver=driver, by=_BY, at=clock.now())
        if options["position"]:
            point = moves.parse_point(options["position"])
            drivers.set_position(driver=driver, point=point, by=_BY, at=clock.now())
        return {"driver": str(driver.pk)}

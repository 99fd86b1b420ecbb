"""A busy day of the demo: deliveries in every state and orders in every status, made by the actions.

The account has no webhook URL, so its events are recorded and not sent.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from common.accounts import Environment
from delivery.actions import deliveries, drivers, moves
from delivery.geo.distance import Point
from delivery.lifecycle import Trigger
from delivery.models import Delivery, Driver, DutyChange, Token, VehicleType
from delivery.payload import DeliveryRequest, Package, Place
from delivery.windows import NO_WINDOW, Window
from dev.demo.orders import RECEIVER, invoice
from integration.actions import orders
from integration.invoices import actions as invoices
from integration.lifecycle import Reason, Status
from integration.manifests import actions as manifests
from integration.models import Manifest, Order, Seller, compact_document

BY = "demo"
_CITY = {"city": "São Paulo", "state": "SP", "country": "BR"}
_SHOP = Place(
    point=Point(-23.561414, -46.655881),
    address={**_CITY, "street": "Avenida Paulista", "number": "1578", "district": "Bela Vista", "zipcode": "01310200"},
    contact_name="Loja Paulista",
    contact_phone="+551133330000",
)
# Invented people at streets near the shop.
_RECEIVERS = [
    ("Maria Souza", "Rua Augusta", "900", "Consolação", "01304001", Point(-23.5531, -46.6529)),
    ("João Pereira", "Rua Oscar Freire", "379", "Cerqueira César", "01426001", Point(-23.5629, -46.6689)),
    ("Beatriz Nakamura", "Rua Vergueiro", "3185", "Vila Mariana", "04101300", Point(-23.5850, -46.6400)),
    ("Carlos Lima", "Rua da Consolação", "2302", "Consolação", "01302001", Point(-23.5540, -46.6610)),
    ("Larissa Alves", "Alameda Santos", "1165", "Jardim Paulista", "01419002", Point(-23.5660, -46.6530)),
    ("Pedro Ramos", "Rua Haddock Lobo", "595", "Cerqueira César", "01414001", Point(-23.5570, -46.6620)),
    ("Sofia Martins", "Rua Pamplona", "818", "Jardim Paulista", "01405001", Point(-23.5655, -46.6560)),
    ("Rafael Costa", "Rua Bela Cintra", "1149", "Consolação", "01415001", Point(-23.5580, -46.6640)),
]
# Street, number, district, CEP and place of each address.
ADDRESSES = [
    ("Avenida Paulista", "1578", "Bela Vista", "01310200", _SHOP.point),
    *(receiver[1:] for receiver in _RECEIVERS),
]
_PARCEL = Package(description="Caixa", height=20, width=30, length=40, weight=2.5, quantity=1)

# The routes: the minutes since the request, the number of drop-offs, and the moves that followed at intervals of eight
# minutes. Drivers take turns, so each is free again for the twelfth next.
_ROUTES = [
    (324, 1, "accept, collect, deliver B"),
    (312, 2, "accept, collect, deliver B, deliver C"),
    (300, 1, "accept, collect, deliver B"),
    (288, 3, "accept, collect, deliver B, deliver C, deliver D"),
    (276, 1, "cancel"),
    (264, 1, "accept, collect, deliver B"),
    (252, 2, "accept, collect, fail B, deliver C, return"),
    (240, 1, "accept, collect, deliver B"),
    (228, 1, "accept, collect, deliver B"),
    (216, 1, "expire"),
    (204, 2, "accept, collect, deliver B, deliver C"),
    (192, 1, "accept, collect, deliver B"),
    (180, 1, "accept, collect, cancel, return"),
    (168, 1, "accept, collect, deliver B"),
    (156, 3, "accept, collect, deliver B, deliver C, deliver D"),
    (144, 1, "accept, cancel"),
    (132, 1, "accept, collect, deliver B"),
    (120, 1, "accept, collect, fail B, return"),
    (108, 2, "accept, collect, deliver B, deliver C"),
    (96, 1, "accept, collect, deliver B"),
    (84, 1, "cancel"),
    (72, 1, "accept, release, accept, collect, deliver B"),
    (60, 1, "accept, collect, deliver B"),
    (48, 2, "accept, collect, fail B, deliver C"),
    (44, 1, "accept, collect"),
    (36, 3, "accept, collect, deliver B"),
    (30, 2, "accept, collect, deliver B"),
    (26, 1, "accept, collect"),
    (20, 2, "accept, collect"),
    (16, 1, "accept"),
    (13, 1, "accept"),
    (12, 1, ""),
    (7, 2, ""),
    (5, 1, ""),
    (3, 3, ""),
    (1, 1, ""),
]
# Scheduled ones: the hours until they are ready.
SCHEDULED = (2, 5)
_BETWEEN_MOVES = timedelta(minutes=8)
_REASONS = {"cancel": "Cliente desistiu", "fail": "Tocou três vezes"}
_BETWEEN_POSITIONS = 4  # minutes
# Where the drivers are at the end.
_PLACES = [
    Point(-23.5601, -46.6650), Point(-23.5617, -46.6560), Point(-23.5640, -46.6522), Point(-23.5563, -46.6601),
    Point(-23.5548, -46.6612), Point(-23.5652, -46.6540), Point(-23.5700, -46.6480), Point(-23.5590, -46.6575),
    Point(-23.5605, -46.6530), Point(-23.5672, -46.6601), Point(-23.5535, -46.6560), Point(-23.5622, -46.6625),
]  # fmt: skip  # a table

# How an order came to its status.
_WAY = (Status.COLLECTED, Status.IN_TRANSIT, Status.OUT_FOR_DELIVERY)
_ORDERS: list[Sequence[Status]] = [
    (*_WAY, Status.DELIVERED),
    (*_WAY, Status.DELIVERY_FAILED, Status.RETURNED),
    (Status.CANCELLED,),
    (*_WAY, Status.DELIVERED),
    (*_WAY, Status.DELIVERY_FAILED),
    _WAY,
    _WAY[:2],
    _WAY[:2],
    _WAY[:1],
    (),
    (),
    (),
]
_WHY = {
    Status.DELIVERY_FAILED: orders.Details(reason_code=Reason.ABSENT, place="Salvador/BA"),
    Status.RETURNED: orders.Details(reason_code=Reason.REFUSED),
}
_BETWEEN_STATUSES = timedelta(hours=12)
_BETWEEN_ORDERS = timedelta(hours=10)


def fill(*, token: Token, seller: Seller, company: str, at: datetime) -> None:
    """Write the hours that lead up to `at`, in a database with the demo's twelve drivers and without deliveries.

    `company`: the document of one of the seller's companies.
    """
    team = list(Driver.objects.order_by("pk"))
    began = at - timedelta(minutes=_ROUTES[0][0])
    DutyChange.objects.bulk_create([DutyChange(driver=driver, on_duty=True, at=began) for driver in team])
    for number, (minutes, count, steps) in enumerate(_ROUTES):
        requested = at - timedelta(minutes=minutes)
        _write_route(token, team[number % len(team)], number=number, count=count, steps=steps, at=requested)
    for number, hours in enumerate(SCHEDULED, start=len(_ROUTES)):
        schedule(token, number=number, hours=hours, at=at)
    for driver, place in zip(team, _PLACES, strict=True):
        for minutes in range(60, -1, -_BETWEEN_POSITIONS):
            left = minutes / 60  # of the way that began at the shop an hour ago
            point = Point(*(end + (start - end) * left for start, end in zip(_SHOP.point, place, strict=True)))
            drivers.set_position(driver=driver, point=point, by=BY, at=at - timedelta(minutes=minutes))
    made = [
        _write_order(seller, company, number=number, way=way, at=at - _BETWEEN_ORDERS * (len(_ORDERS) + 1 - number))
        for number, way in enumerate(_ORDERS, start=1)
    ]
    handed_over, listed = [order for order, way in zip(made, _ORDERS, strict=True) if not way][:2]
    _open_manifest(seller, listed, at=at)
    manifests.close(manifest=_open_manifest(seller, handed_over, at=at), by=BY, at=at)


def _open_manifest(seller: Seller, order: Order, *, at: datetime) -> Manifest:
    return manifests.create(seller=seller, environment=Environment.LIVE, orders=[order], by=BY, at=at)


def request(
    token: Token, vehicle: VehicleType | str, *, number: int, count: int, at: datetime, window: Window = NO_WINDOW
) -> Delivery:
    """The delivery with this number, which its orders are named by, to `count` drop-offs."""
    payload = DeliveryRequest(
        vehicle_type=vehicle,
        pickup=replace(_SHOP, window=window),
        dropoffs=[_dropoff(number * 3 + index) for index in range(count)],
        packages=[_PARCEL],
    )
    return deliveries.request(token=token, payload=payload, by=BY, at=at)


def schedule(token: Token, *, number: int, hours: int, at: datetime) -> None:
    """Request one that can be collected for half an hour from a full hour on, which is so many hours ahead."""
    ready = (at + timedelta(hours=hours)).replace(minute=0, second=0, microsecond=0)
    window = Window(ready, ready + timedelta(minutes=30))
    request(token, VehicleType.MOTORCYCLE, number=number, count=1, at=at, window=window)


def _write_route(token: Token, driver: Driver, *, number: int, count: int, steps: str, at: datetime) -> None:
    """A route that is requested at `at` for the vehicle of `driver`, who takes it if anybody does."""
    delivery = request(token, driver.vehicle_type, number=number, count=count, at=at)
    for step in filter(None, steps.split(", ")):
        at += _BETWEEN_MOVES
        name, _space, point = step.partition(" ")
        if name == Trigger.EXPIRE:
            deliveries.expire(delivery=delivery, by="system: offer deadline", at=delivery.offer_expires_at)
        else:
            fields = {"driver": str(driver.pk), "point": point, "code": "ABSENT", "reason": _REASONS.get(name, "")}
            moves.perform(name, delivery=delivery, fields=fields, by=BY, at=at)


def _dropoff(number: int) -> Place:
    name, street, house, district, postcode, point = _RECEIVERS[number % len(_RECEIVERS)]
    return Place(
        point=point,
        address={**_CITY, "street": street, "number": house, "district": district, "zipcode": postcode},
        contact_name=name,
        contact_phone=f"+55119777700{number % len(_RECEIVERS):02d}",
        external_id=f"pedido-{2001 + number}",
    )


def _write_order(seller: Seller, company: str, *, number: int, way: Sequence[Status], at: datetime) -> Order:
    """An order that is created at `at` and gets these statuses, and if it has left the seller an invoice."""
    code, cost = f"PEDIDO-{4000 + number}", Decimal(90 + 37 * number)
    payload = orders.NewOrder(
        company_document=company,
        code=code,
        tracking_code="",
        service="next" if number % 3 == 0 else "base",
        cost=cost,
        items=[{"description": "Cafeteira", "dimensions": "30x20x40,2.5", "quantity": 1, "price": cost}],
        receiver=RECEIVER,
        invoice=None,
    )
    order = orders.create(seller=seller, environment=Environment.LIVE, payload=payload, by=BY, at=at)
    if way:
        xml = invoice(compact_document(company), code, number, value=cost)
        invoices.receive(seller=seller, environment=Environment.LIVE, raw=xml.encode(), by=BY, at=at)
    for status in way:
        at += _BETWEEN_STATUSES
        orders.move(order=order, to=status, by=BY, at=at, details=_WHY.get(status, orders.NOTHING_MORE))
    return order

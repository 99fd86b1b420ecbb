"""A busy dispatch board in São Paulo: shops, routes in every state, drivers at their places; and who opens it."""

from datetime import timedelta

from django.utils import timezone

from delivery.actions import deliveries, drivers
from delivery.geo.distance import Point
from delivery.models import VehicleType
from delivery.payload import Place
from tests.factories import (
    BY,
    DeliveryFactory,
    DriverFactory,
    IntegratorFactory,
    TariffFactory,
    TokenFactory,
    validated_payload,
)

LONG_NAME = "Farmácia São Judas Tadeu da Vila Mariana e Jardim Paulista 24 h"
# Name, street, number, district, CEP, place.
SHOPS = [
    ("Padaria Sol", "Avenida Paulista", "1578", "Bela Vista", "01310200", Point(-23.56141, -46.65588)),
    (LONG_NAME, "Rua Vergueiro", "1000", "Paraíso", "01504000", Point(-23.57050, -46.64000)),
    ("Mercado Boa Praça", "Praça da República", "76", "República", "01045000", Point(-23.54350, -46.64250)),
    ("Livraria Lua", "Rua dos Pinheiros", "870", "Pinheiros", "05422001", Point(-23.56600, -46.68400)),
]
# Street and number, complement, district, CEP, receiver, phone, place.
RECEIVERS = [
    ("Rua Augusta, 900", "Apto 42", "Consolação", "01304001", "Ana Lúcia Prado", "98888-0001", (-23.553, -46.6535)),
    ("Rua Oscar Freire, 379", "", "Jardins", "01426001", "Bruno Tavares", "98888-0002", (-23.5626, -46.669)),
    ("Rua Haddock Lobo, 1421", "Loja 3", "Cerqueira César", "01414003", "Café Lobo", "3085-0003", (-23.5612, -46.6655)),
    ("Alameda Santos, 1165", "Sala 81", "Jardim Paulista", "01419002", "Clínica Sá", "3262-0004", (-23.566, -46.653)),
    ("Rua da Consolação, 2302", "", "Consolação", "01302001", "Davi Nakamura", "98888-0005", (-23.554, -46.6605)),
    ("Rua Pamplona, 518", "Apto 101", "Bela Vista", "01405000", "Elisa Moreira", "98888-0006", (-23.564, -46.652)),
    ("Rua Treze de Maio, 1933", "", "Bela Vista", "01327001", "Fábio Conti", "98888-0007", (-23.571, -46.6445)),
    ("Avenida Angélica, 2250", "Conj. 12", "Higienópolis", "01228200", "Gil Rocha", "98888-0008", (-23.553, -46.662)),
    ("Rua Itacolomi, 333", "", "Higienópolis", "01239020", "Heitor Dias", "98888-0009", (-23.5475, -46.659)),
    ("Rua Frei Caneca, 569", "Bloco B", "Consolação", "01307001", "Inês Barbosa", "98888-0010", (-23.554, -46.651)),
    ("Rua Teodoro Sampaio, 1020", "", "Pinheiros", "05406050", "João Pedro Araújo", "98888-0011", (-23.560, -46.678)),
    ("Rua Cardeal Arcoverde, 1745", "Casa 2", "Pinheiros", "05407002", "Kátia Lemos", "98888-0012", (-23.561, -46.685)),
    ("Rua Domingos de Morais, 2187", "", "Vila Mariana", "04035000", "Luís Otávio", "98888-0013", (-23.589, -46.635)),
    ("Rua Joaquim Távora, 605", "Apto 7", "Vila Mariana", "04015001", "Marina Sá", "98888-0014", (-23.585, -46.644)),
    ("Rua Tutóia, 450", "", "Paraíso", "04007001", "Nélson Freire", "98888-0015", (-23.5755, -46.649)),
    ("Rua Estados Unidos, 1093", "", "Jardim América", "01427001", "Olívia Kuhn", "98888-0016", (-23.568, -46.669)),
    ("Avenida Rebouças, 1164", "Apto 23", "Pinheiros", "05402000", "Paulo Reis", "98888-0017", (-23.561, -46.675)),
    ("Rua Maria Antônia, 294", "", "Vila Buarque", "01222010", "Quitéria Alves", "98888-0018", (-23.5455, -46.652)),
    ("Rua São Bento, 470", "12º andar", "Centro", "01011100", "Rui Campos", "98888-0019", (-23.5465, -46.6345)),
]  # fmt: skip  # a table
DRIVERS = [
    "Ana Souza",
    "Beto Lima",
    "Carla Nunes",
    "Diego Prates",
    "Edna Melo",
    "Flávio Reis",
    "Gil Santana",
    "Helena Cruz",
]
# What has happened on each route: minutes since its request, moves, and how many stops it has. Repeated for more.
ROUTES = [
    (2, "", 3), (27, "accept", 2), (31, "accept collect", 3), (12, "", 1), (38, "accept collect fail", 2),
    (9, "accept", 3), (6, "", 2), (44, "accept collect deliver", 3), (16, "accept", 1), (23, "accept collect", 2),
    (1, "", 1), (35, "accept collect cancel", 2),
]  # fmt: skip  # a table


def fill_board(token, count=12):
    """So many routes of `token`'s shop and three others, and two free drivers. Returns the deliveries."""
    accounts = [token, *(TokenFactory.create(integrator=IntegratorFactory.create(name=shop[0])) for shop in SHOPS[1:])]
    for shop in accounts:
        shop.integrator.allow_any_pickup = True
        shop.integrator.save(update_fields=["allow_any_pickup"])
    TariffFactory.create(vehicle_type=VehicleType.CAR)
    made = [_route(accounts, number) for number in range(count)]
    for name, place in (("Ivo Castro", Point(-23.5578, -46.6716)), ("Júlia Paz", Point(-23.5512, -46.6447))):
        DriverFactory.create(name=name, at_point=place)
    return made


def _route(accounts, number):
    minutes, moves, stops = ROUTES[number % len(ROUTES)]
    again = number // len(ROUTES)
    shop = (number + again) % len(SHOPS)
    now = timezone.now()
    at = now - timedelta(minutes=max(minutes - 3 * again, 1), seconds=7 * number % 60)
    step = (now - at) / (len(moves.split()) + 2)
    name, street, house, district, zipcode, point = SHOPS[shop]
    address = {
        "street": street,
        "number": house,
        "district": district,
        "zipcode": zipcode,
        "city": "São Paulo",
        "state": "SP",
    }
    pickup = Place(point=point, address=address, contact_name=name, contact_phone="+55 11 3333-0000")
    dropoffs = [_receiver(number, index) for index in range(stops)]
    vehicle = VehicleType.CAR if number % 5 == 4 else VehicleType.MOTORCYCLE
    payload = validated_payload(pickup=pickup, dropoffs=dropoffs, vehicle_type=vehicle)
    delivery = DeliveryFactory.create(token=accounts[shop], payload=payload, at=at)
    for index, move in enumerate(moves.split(), start=1):
        delivery = _move(delivery, move, number, at + index * step)
    if delivery.driver is not None and not delivery.is_closed:
        place = _on_the_way([point, *(dropoff.point for dropoff in dropoffs)], moves.split(), number)
        seen = now - timedelta(seconds=4 + 9 * (number % 12))
        drivers.set_position(driver=delivery.driver, point=place, by=BY, at=seen)
    return delivery


def _on_the_way(points, moves, number):
    """A place before A, or between the last point that was closed and the next one."""
    if "collect" not in moves:
        return Point(points[0].latitude + 0.0025 - 0.0011 * (number % 5), points[0].longitude - 0.005)
    begin, end = points[:2][::-1] if "cancel" in moves else points[len(moves) - 2 :][:2]
    share = 0.35 + 0.05 * (number % 7)
    return Point(*(one + share * (other - one) for one, other in zip(begin[:2], end[:2], strict=True)))


def _receiver(number, index):
    line, complement, district, zipcode, name, phone, place = RECEIVERS[(3 * number + index) % len(RECEIVERS)]
    street, house = line.split(", ")
    address = {
        "street": street, "number": house, "complement": complement, "district": district, "zipcode": zipcode,
        "city": "São Paulo", "state": "SP",
    }  # fmt: skip
    order = f"PEDIDO-{1200 + 3 * number + index}"
    return Place(
        point=Point(*place), address=address, contact_name=name, contact_phone=f"+55 11 {phone}", external_id=order
    )


def _move(delivery, move, number, at):
    if move == "accept":
        name = DRIVERS[number % len(DRIVERS)]
        phone = f"+55 11 97777-{1000 + number}"
        driver = DriverFactory.create(name=name, phone=phone, vehicle_type=delivery.vehicle_type)
        return deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at)
    if move == "collect":
        return deliveries.collect(delivery=delivery, by=BY, at=at)
    if move == "deliver":
        return deliveries.deliver_point(delivery=delivery, point="B", by=BY, at=at)
    if move == "fail":
        return deliveries.fail_point(delivery=delivery, point="B", reason="Ninguém no endereço", by=BY, at=at)
    return deliveries.cancel(delivery=delivery, reason="Pedido em duplicidade", by=BY, at=at)


def open_board(tab, people, locale="en-US", *, name="dora"):
    """A dispatcher's browser. The clock of its page runs, and can be put forward."""
    people(name, group="Dispatchers")
    browser = tab(locale)
    browser.log_in(name)
    browser.page.clock.install()
    browser.go("/panel/board/")
    return browser


def pause(page):
    """Stop the page's clock."""
    page.clock.pause_at(timezone.now() + timedelta(seconds=5))


def wait_for_hold(page):
    """The end of the seconds in which a move can be undone."""
    page.clock.fast_forward(6_000)

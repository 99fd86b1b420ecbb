"""All public functions of the packages' actions, and arguments for them by the names of their parameters."""

import inspect
import pkgutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from decimal import Decimal
from functools import cache
from importlib import import_module
from itertools import islice, product
from typing import Any, NamedTuple
from uuid import UUID

from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist
from django.db.models import Model, Value

from access import personal_data
from access.models import Invitation, PersonRequest
from access.personal_data import Person, person
from common.accounts import Role
from common.areas import AreaConfig
from common.webhooks.endpoints import CheckedUrl
from delivery import pricing
from delivery.actions import quotes
from delivery.actions.proofs import Proof
from delivery.alerts.models import AlertKind, EndpointAlerts
from delivery.drivers.moves import SentMove
from delivery.geo import position_filter
from delivery.lifecycle import OnFailure, Trigger
from delivery.models import AccountScope, AuditAction, GoodsInHand, ProofPhoto, Stop, WebhookEvent
from delivery.pricing import Quote
from delivery.receivers import actions as receivers
from delivery.webhooks.outbox import OUTBOX
from integration.api.serializers import OrderSerializer
from integration.carriers import actions as carriers
from integration.carriers.movements import Movement
from integration.invoices.models import LinkReason
from integration.lifecycle import Status as OrderStatus
from integration.models import Authentication
from tests.delivery.drivers.browsers import Browser
from tests.factories import PICKUP
from tests.integration.factories import COMPANY, OTHER_COMPANY, _whole_items, nfe_xml, order_body
from tests.photos import photo
from tests.scope.world import DOCUMENT, INVITED, PHONE, REPORT, UPLOAD, Account, World, other_key, payload

# Modules of leaves without actions: entry points, what is sent, and what is pure.
_NO_ACTIONS = {
    "address_files", "address_words", "admin", "api", "calculation", "form_fields", "geocoding", "log_in", "models",
    "movement_files", "nfe", "offer_pushes", "order_state", "osm_files", "packed_houses", "payloads", "phone_data",
    "posts", "session", "shell", "street_names", "timetable", "urls", "views", "web_push", "words", "work",
}  # fmt: skip  # a list of names
_NO_LEAVES = {"admin", "api", "geo", "management", "migrations", "models", "papers", "webhooks"}
_PLACES = [
    f"{area.name}.{folder}"
    for area in apps.get_app_configs()
    if isinstance(area, AreaConfig)
    for _finder, folder, is_package in pkgutil.iter_modules([area.path])
    if is_package and folder not in _NO_LEAVES
]
_MODULES = (
    *(f"{place}.{each.name}" for place in _PLACES for each in pkgutil.iter_modules(import_module(place).__path__)
      if each.name not in _NO_ACTIONS),
    "access.invitations", "access.teams", "access.rights", "access.enrolment",
    "access.personal_data",
    "delivery.reports", "delivery.stop_details",
    "common.webhooks.endpoints", "common.webhooks.feed", "common.webhooks.queue", "common.webhooks.replays",
    "panel.attention", "panel.dispatch.board",
)  # fmt: skip  # a list of names


@cache
def functions() -> dict[str, Callable[..., Any]]:
    """The public functions by their names."""
    found: dict[str, Callable[..., Any]] = {}
    for name in _MODULES:
        module = import_module(name)
        for part, value in vars(module).items():
            if inspect.isfunction(value) and value.__module__ == name and not part.startswith("_"):
                found[f"{name}.{part}"] = value
    return found


# Parameters whose values belong to somebody. Two of them have to belong together.
NAMES_A_ROW = {
    "account", "beside", "carrier", "delivery", "device", "driver", "endpoint", "integrator", "invitation", "invoice",
    "key", "membership", "order", "pairs", "pickup", "quote_id", "seller", "sent", "stop", "token", "upload",
}  # fmt: skip  # a list of names


class Call(NamedTuple):
    """A function with its arguments; `named` are the rows among them whose owners bound what it may touch."""

    function: Callable[..., Any]
    positional: tuple[Any, ...]
    by_name: dict[str, Any]

    def values(self) -> list[Any]:
        return [*self.positional, *self.by_name.values()]

    def rows(self) -> list[tuple[str, str]]:
        """The rows among the arguments, and those that stand for themselves by their ids."""
        found = []
        for value in self.values():
            each = value if isinstance(value, (list, tuple)) else [value]
            found += [(row._meta.db_table, str(row.pk)) for row in each if isinstance(row, Model)]
        return found

    def make(self) -> Any:
        """What the function returns for the rows as they are now."""
        arguments = [fresh(each) for each in self.positional]
        return self.function(*arguments, **{name: fresh(each) for name, each in self.by_name.items()})


def fresh(value: Any) -> Any:
    """A row as it is now; other values as they are."""
    if isinstance(value, Model) and value.pk is not None:
        try:
            return type(value)._default_manager.get(pk=value.pk)
        except ObjectDoesNotExist:
            return value  # it was removed with its owner
    return value() if isinstance(value, Late) else value


class Late:
    """A value that is made when the call is made."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self) -> Any:
        return self.make()


class Party:
    """What one caller has, by the names of parameters. Several values: the first with which the call succeeds."""

    def __init__(self, world: World, account: Account, seller: dict[str, Any]) -> None:
        self.world, self.account, self.seller = world, account, seller

    def values(self, name: str, annotation: Any, function: str) -> list[Any]:
        specific = self._specific().get(function)
        if specific and name in (found := specific()):
            return found[name]
        if annotation is User:
            is_sellers = "seller" in str(function)
            return [self.world.staff if is_sellers else self.account.user, self.seller["user"]]
        return self._by_name(name)

    def _by_name(self, name: str) -> list[Any]:  # a table
        account, seller, world = self.account, self.seller, self.world
        held = {state: each for state, each in account.deliveries.items() if each.driver_id}
        drivers = [world.drivers[f"Free {account.owner[1]} 1"]]
        drivers += [world.drivers["/".join((*account.owner, state))] for state in held]
        first = next(iter(held.values()))
        stops = Stop.objects.filter(delivery=first).order_by("index")
        membership = account.integrator.memberships.get(user=account.user)
        table: dict[str, Callable[[], list[Any]]] = {
            "delivery": lambda: list(account.deliveries.values()),
            "driver": lambda: [each["driver"] for each in drivers],
            "drivers": lambda: [[each["driver"]] for each in drivers],
            "device": lambda: [each["device"] for each in drivers],
            "stop": lambda: [Stop.objects.get(delivery=each, index=0) for each in account.deliveries.values()],
            "stops": lambda: [Late(lambda: list(Stop.objects.filter(delivery=first)))],
            "addresses": lambda: [{}],
            "pickup": lambda: [account.integrator.pickup_points.get(active=True)],
            "by_staff": lambda: [True],
            "may_request": lambda: [False],
            "token": lambda: [account.token],
            "integrator": lambda: [account.integrator],
            "account": lambda: [account.integrator, seller["seller"]],
            "endpoint": lambda: [account.endpoint],
            "endpoints": lambda: [[account.endpoint]],
            "beside": lambda: [account.endpoint],
            "statuses": lambda: [["FAILED"]],
            "outbox": lambda: [OUTBOX],
            "endpoint_id": lambda: [account.endpoint.pk],
            "environment": lambda: [account.owner[1]],
            "membership": lambda: [membership],
            "alerts": lambda: [EndpointAlerts.objects.get(endpoint=account.endpoint)],
            "events": lambda: [Late(lambda: WebhookEvent.objects.filter(delivery=first))],
            "photo": lambda: [ProofPhoto.objects.filter(stop=stops[0]).first()],
            "seller": lambda: [seller["seller"]],
            "key": lambda: [seller["key"]],
            "order": lambda: list(seller["orders"].values()),
            "invoice": lambda: [seller["invoice"]],
            "manifest": lambda: [seller["manifest"]],
            "carrier": lambda: [seller["carrier"]],
            "orders": lambda: [[each] for each in seller["orders"].values()],
            "codes": lambda: [["A-1"]],
            "invitation": lambda: [Invitation.objects.filter(integrator=account.integrator).first()],
            "user": lambda: [account.user],
            "by": lambda: ["tester"],
            "at": lambda: [world.now],
            "since": lambda: [world.now - timedelta(days=1)],
            "until": lambda: [world.now],
            "after": lambda: [None],
            "point": lambda: ["B", PICKUP],
            "reason": lambda: ["Nobody"],
            "name": lambda: ["New name"],
            "language": lambda: ["en"],
            "email": lambda: ["new@example.com"],
            "url": lambda: ["", CheckedUrl("")],
            "payload": lambda: [payload()],
            "quote": lambda: [
                Quote(Decimal(10), Decimal(5), Decimal(0), Decimal(0), Decimal(0), Decimal(0), (60, 900))
            ],
            "quote_id": lambda: [None],
            "code": lambda: ["A-1"],
            "value": lambda: ["A-1"],
            "receives": lambda: ["Porter"],
            "hint": lambda: ["Leave it at the desk"],
            "document": lambda: [DOCUMENT.replace(".", "").replace("-", ""), ""],
            "phone": lambda: ["11977770001"],
            "count": lambda: [5],
            "on_duty": lambda: [False],
            "are_on": lambda: [True],
            "enabled": lambda: [False],
            "untaken_minutes": lambda: [5],
            "late_minutes": lambda: [5],
            "wanted": lambda: [{"failing": False, "off": False, "recovered": False, "digest": False}],
            "role": lambda: [Role.MEMBER, Role.OWNER],
            "kind": lambda: [AlertKind.FAILING],
            "action": lambda: [AuditAction.TEST_SENT],
            "subject": lambda: ["subject"],
            "to": lambda: list(OrderStatus),
            "raw": lambda: [nfe_xml(key=other_key(4), items=("A-2",)).encode()],
            "content": lambda: [photo()],
            "taken_at": lambda: [world.now],
            "made_at": lambda: [None],
            "upload": lambda: [UPLOAD, UUID(int=0xFF)],
            "fields": lambda: [{"point": "B", "reason": "Nobody", "position": "-23.56,-46.65"}],
            "proof": lambda: [Proof(received_by="Ana", photos=(UPLOAD,), pin=each.options.pin) for each in stops],
            "received_by": lambda: ["Ana"],
            "pin": lambda: ["0000"],
            "person": lambda: [Person(phone="11977770001"), Person(document="52998224725")],
            "session": lambda: [each["session"] for each in drivers],
            "by_document": lambda: [False, True],
            "found": lambda: [Late(lambda: personal_data.find(person(phone=PHONE), until=world.now))],
            "request": lambda: [PersonRequest.objects.get(kind="forget")],
            "vehicle_type": lambda: ["MOTORCYCLE"],
            "trip": lambda: [pricing.Trip(Decimal(5), Decimal(0), 1, Decimal(1))],
            "sent": lambda: [[position_filter.SentPosition(PICKUP, world.now)]],
            "text": lambda: ["text"],
            "context": lambda: [{"endpoint": account.endpoint, "account": "x", "link": "/", "preferences": "/"}],
            "page": lambda: ["alerts"],
        }
        return table[name]() if name in table else []

    def _specific(self) -> dict[str, Callable[[], dict[str, list[Any]]]]:  # a table
        """Arguments of functions that need more than their parameters' names say."""
        world, account, seller = self.world, self.account, self.seller
        own, of_sandbox = account.deliveries, world.sandbox.deliveries
        free, integrator = world.drivers[f"Free {account.owner[1]} 1"], account.integrator
        collected, day = own["collected"], timedelta(days=1)

        def proof() -> Proof:
            return Proof("Ana", Stop.objects.get(delivery=collected, index=0).options.pin, (UPLOAD,))

        def order(code: str = "A-77") -> Any:
            document = COMPANY if seller["seller"].name.endswith("S") else OTHER_COMPANY
            body = order_body(company_document=document, orderId=code, trackingCode="TRACK-9", orderCost=1,
                              items=_whole_items(), invoice=None)  # fmt: skip
            serializer = OrderSerializer(data=body)
            serializer.is_valid(raise_exception=True)
            return serializer.payload

        def link() -> str:
            stop = Stop.objects.get(delivery=collected, index=1)
            return receivers.addresses([stop], at=world.now)[stop.pk].rsplit("/", 1)[1]

        def quote_id() -> str:
            quote = Quote(Decimal(10), Decimal(5), Decimal(0), Decimal(0), Decimal(0), Decimal(0), (60, 900))
            return quotes.issue(quote, token=account.token, payload=payload(), at=world.now)

        def events() -> dict[str, list[Any]]:
            """Of the seller's carrier, also about a code that is another's."""
            sent = [Movement(f"event-{code}", code, OrderStatus.COLLECTED) for code in ("TRACK-1", "T-8")]
            found = Late(lambda: carriers.orders_of(seller["carrier"]))
            return {"movements": [sent], "orders": [found], "source": [seller["carrier"].source]}

        def member() -> dict[str, list[Any]]:
            other = integrator.memberships.exclude(user=account.user).get()
            return {"membership": [other.pk], "account": [integrator], "role": [Role.OWNER]}

        def point(name: str) -> dict[str, list[Any]]:
            return {"pickup": [integrator.pickup_points.get(name=name)]}

        def invited() -> dict[str, list[Any]]:
            found = Invitation.objects.get(integrator=integrator, email=INVITED)
            return {"invitation": [found.pk], "account": [integrator]}

        sent = SentMove(REPORT, own["accepted"].pk, Trigger.COLLECT, world.now)
        offered = {"delivery": [of_sandbox["requested"]]}
        return {
            "access.invitations.resend": invited,
            "access.invitations.revoke": invited,
            "access.teams.change_role": member,
            "access.teams.change_right": member,
            "access.teams.remove": member,
            "integration.actions.webhooks.set_authentication": lambda: {
                "endpoint": [seller["endpoint"]], "authentication": [Authentication.parse("bearer:open-sesame")],
            },
            "delivery.alerts.actions.tell_trouble": lambda: {"at": [world.now + day / 24]},
            "delivery.alerts.actions.record_digests": lambda: {"at": [(world.now + day).replace(hour=12, minute=0)]},
            "delivery.actions.deliveries.collect": lambda: {"point": [""]},
            "delivery.actions.deliveries.offer": lambda: {"delivery": [own["scheduled"]]},
            "delivery.actions.deliveries.recall": lambda: {"point": ["D"]},
            "delivery.actions.schedule.offer_due": lambda: {"at": [world.now + day]},
            "delivery.actions.schedule.plan": lambda: {"at": [world.now + day]},
            "delivery.actions.deliveries.expire_early": lambda: offered,
            "delivery.actions.deliveries.expire_overdue": lambda: {"at": [world.now + day]},
            "delivery.actions.deliveries.fail": lambda: {"code": ["ABSENT"]},
            "delivery.actions.deliveries.return_": lambda: {"delivery": [of_sandbox["undelivered"]]},
            "delivery.drivers.devices.find": lambda: {"session": [free["session"]]},
            "delivery.drivers.devices.find_link": lambda: {"token": [free["link"]]},
            "delivery.drivers.devices.log_in": lambda: {"token": [free["link"]]},
            "delivery.drivers.devices.subscribe": lambda: {
                name: [value] for name, value in Browser("https://push.example/1").subscription.items()
            },
            "delivery.drivers.moves.perform": lambda: {"driver": [own["accepted"].driver], "sent": [sent]},
            "delivery.actions.drivers.claim_simulated": lambda: {
                **offered, "position_at": [world.now + timedelta(minutes=1)],
            },
            "delivery.actions.deliveries.request_once": lambda: {
                "token": [AccountScope(account.integrator, account.owner[1])],
                "key": ["form-1"],
                "quote_id": [quote_id()],
            },
            "delivery.accounts.pickup_points.activate": lambda: point("Closed"),
            "delivery.accounts.pickup_points.approve": lambda: point("Waiting"),
            "delivery.actions.forgetting.forget_ended": lambda: {
                "at": [world.now + day * (settings.FORGET_DELIVERY_DAYS + 1)]
            },
            "delivery.actions.moves.perform": lambda: {"name": ["collect", "position", "deliver"]},
            "delivery.actions.proofs.add": lambda: {"delivery": [collected.pk], "driver": [collected.driver]},
            "delivery.actions.proofs.deliver": lambda: {"delivery": [collected], "proof": [proof()]},
            "delivery.accounts.integrators.set_policy": lambda: {"policy": [OnFailure.RETRY]},
            "delivery.actions.stops.change": lambda: {"values": [{"contact_name": "Ana", "instructions": "Knock"}]},
            "delivery.actions.stops.instruct": lambda: {
                "point": ["D"], "answer": [OnFailure.LEAVE], "instructions": ["Knock"],
            },
            "delivery.actions.goods.record_back": lambda: {"goods": [GoodsInHand.objects.get(delivery=collected)]},
            "delivery.actions.quotes.redeem": lambda: {"quote_id": [quote_id()]},
            "delivery.receivers.actions.find": lambda: {"token": [link()]},
            "delivery.accounts.tokens.authenticate": lambda: {"clear_text": [account.token.clear_text]},
            "delivery.sandbox.by_hand.perform": lambda: {"name": ["collect", "position", "deliver"]},
            "delivery.sandbox.simulated_driver.accept": lambda: offered,
            "integration.carriers.actions.authenticate": lambda: {"clear_text": [seller["carrier_text"]]},
            "integration.carriers.actions.revoke_key": lambda: {"key": [seller["carrier_key"]]},
            **{f"integration.carriers.movements.{name}": events for name in ("record", "foresee", "find")},
            "integration.invoices.actions.link": lambda: {
                "found": [[(seller["invoice"], seller["orders"]["sent"], LinkReason.BY_HAND)]]
            },
            "integration.accounts.keys.authenticate": lambda: {"clear_text": [seller["text"]]},
            "integration.actions.orders.create": lambda: {"payload": [order()]},
            "integration.actions.orders.holder_of_codes": lambda: {"payload": [order("A-1"), order()]},
            "integration.actions.orders.correct": lambda: {"changes": [{"cost": 12, "volumes": 2}]},
            "integration.actions.tracking.by_both": lambda: {"value": [Value("A-1")]},
            "integration.actions.tracking.by_code": lambda: {"value": [Value("A-1")]},
            "integration.accounts.sellers.open_": lambda: {"documents": [["11444777000161"]]},
            "panel.dispatch.board.told": lambda: {"messages": [{own["accepted"].pk: ""}]},
        }  # fmt: skip  # a table


def foreign_arguments(name: str, call: Call, party: Party) -> Iterator[tuple[str, str, Call]]:
    """The call with one argument that names a row replaced by another party's, if it has two of them at least.

    Yields the argument, the environment of the other party, and the call.
    """
    parameters = inspect.signature(call.function).parameters
    given = dict(zip(parameters, call.positional, strict=False)) | call.by_name
    world = party.world
    for other in (Party(world, world.b, world.t), Party(world, world.sandbox, world.t)):
        own, others = (
            {each: of.values(each, parameters[each].annotation, name) for each in given if each in NAMES_A_ROW}
            for of in (party, other)
        )
        differ = [each for each in own if own[each] != others[each]]
        for each in differ if len(differ) > 1 else []:
            position = next(
                number for number, value in enumerate(own[each]) if value is given[each] or value == given[each]
            )
            if position < len(others[each]) and others[each][position] != given[each]:
                changed = given | {each: others[each][position]}
                positional = tuple(changed[key] for key in list(changed)[: len(call.positional)])
                rest = {key: value for key, value in changed.items() if key in call.by_name}
                yield each, other.account.owner[1], Call(call.function, positional, rest)


def calls(name: str, party: Party, replaced: dict[str, list[Any]] | None = None) -> Iterator[Call]:
    """The function with each combination of its parameters' values. None if a parameter has no value."""
    function = functions()[name]
    parameters = inspect.signature(function).parameters.values()
    names, values, positional = [], [], []
    for each in parameters:
        found = (replaced or {}).get(each.name) or party.values(each.name, each.annotation, name)
        if not found:
            if each.default is not inspect.Parameter.empty or each.kind is each.VAR_KEYWORD:
                continue
            return
        if each.default is not inspect.Parameter.empty and each.name in {"at", "made_at", "search"}:
            continue
        names.append(each.name)
        values.append(found)
        if each.kind is not each.KEYWORD_ONLY:
            positional.append(each.name)
    for chosen in islice(product(*values), 200):
        arguments = dict(zip(names, chosen, strict=True))
        yield Call(
            function,
            tuple(arguments[each] for each in positional),
            {each: value for each, value in arguments.items() if each not in positional},
        )

"""A request for each route of the URL resolver, with something of its caller or of somebody else for each argument."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import get_resolver

from access.models import Invitation
from delivery.models import Delivery, GoodsInHand, Stop, WebhookEndpoint, WebhookEvent
from delivery.receivers import actions as receivers
from integration.models import WebhookEvent as OrderEvent
from tests.access.test_rights_by_url import routes as routes_of
from tests.delivery.drivers.browsers import Browser
from tests.factories import PICKUP
from tests.factories import payload as body
from tests.integration.factories import nfe_xml, order_body
from tests.photos import photo
from tests.scope.rows import Key, Owner
from tests.scope.world import IDEMPOTENCY_KEY, INVITED, REPORT, UPLOAD, Account, World, other_key

_ARGUMENT = re.compile(r"<(?:\w+:)?(\w+)>")
BROWSER = Browser("https://push.example/1")


@cache
def routes() -> list[str]:
    """Every route of the resolver."""
    return list(routes_of(get_resolver()))


@dataclass
class Ask:
    """A request. `kept` are the owners whom it may read and change, `foreign` is the argument that is another's."""

    method: str
    path: str
    kept: list[Owner]
    data: Any
    options: dict[str, Any]
    client: Callable[[], Client]
    needed: list[Key]
    foreign: str

    def __call__(self) -> tuple[int, str, str]:
        data = self.data() if callable(self.data) else self.data
        response = getattr(self.client(), self.method.lower())(self.path, data, **self.options)
        content = b"".join(response.streaming_content) if response.streaming else response.content
        return response.status_code, response.headers.get("Location", ""), content.decode("utf-8", "replace")


_OF_SELLERS = {"invitation", "membership", "call", "connection", "environment", "event", "number", "shop_order"}


class Requests:
    """The requests of one caller: of the account A and the seller S, or of staff."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.arguments = cache(self._arguments)  # every call is undone, so they stay the same

    def browser(self, name: str) -> Callable[[], Client]:
        return lambda: Client(headers={"accept-language": "en", "cookie": self.world.cookies[name]})

    def of(self, route: str, method: str) -> Iterator[Ask]:
        """The requests with arguments of the caller's own, then with one argument of another's at a time."""
        in_sandbox = route.startswith("api/sandbox") or "/sandbox/<str:move>" in route
        own = self.arguments("sandbox" if in_sandbox else "a")
        others = [self.arguments("b"), self.arguments("a" if in_sandbox else "sandbox")]
        variants = self.variants(route, method, own)
        for variant in variants:
            yield self.ask(route, method, {**own, **variant})
        if self.is_for_staff(route) or route.startswith("t/"):
            return  # staff may open anything, and a link is for whoever has it
        keys = [self.key_of(route, name) for name in _ARGUMENT.findall(route) if name not in {"environment", "change"}]
        for other in others:
            for variant, theirs in zip(variants, self.variants(route, method, other), strict=False):
                for key in keys:
                    values, foreign = {**own, **variant}, {**other, **theirs}[key]
                    if foreign != values[key] and "query" not in variant:
                        yield self.ask(route, method, {**values, key: foreign, "foreign": key})

    @staticmethod
    def is_for_staff(route: str) -> bool:
        is_of_one = re.search("(accounts|sellers)/<", route) and not re.search("/(setup|sheet|carrier|void)/", route)
        return route.startswith("panel/") and not is_of_one

    def key_of(self, route: str, name: str) -> str:
        of_sandbox = {"order", "order_id", "environment"}
        if re.search("sellers/.*/move/|integration/sandbox/", route) and name in of_sandbox:
            return f"test_{name}"
        if "sellers/" in route and name in _OF_SELLERS:
            prefix = "further" if "<int:number>" in route and name == "event" else "seller"
            return f"{prefix}_test" if "webhook/test/" in route and name == "event" else f"{prefix}_{name}"
        if route.startswith("t/"):
            return "order_link" if route.startswith("t/o/") else "link"
        return "test" if "webhook/test/" in route and name == "event" else name

    def _arguments(self, of: str) -> dict[str, Any]:
        """What an account and a seller have, by the names of routes' arguments."""
        account: Account = getattr(self.world, of)
        seller = self.world.t if of == "b" else self.world.s
        held = self.world.drivers["/".join((*account.owner, "collected"))]
        delivery = account.deliveries["collected"]
        stop = Stop.objects.get(delivery=delivery, index=1)
        invitation = Invitation.objects.filter(email=INVITED)
        first, further = seller["endpoints"]
        return {
            "account": account.integrator.pk,
            "environment": account.owner[1],
            "delivery": delivery.pk,
            "delivery_id": delivery.pk,
            "goods": GoodsInHand.objects.get(delivery=delivery).pk,
            "event": WebhookEvent.objects.filter(delivery=delivery, copy_of=None)[0].pk,
            "number": WebhookEndpoint.of(account.integrator.pk, account.owner[1])[-1].number,
            "test": account.more["test"].pk,
            "token": account.token.pk,
            "call": account.more["call"].pk,
            "invitation": invitation.get(integrator=account.integrator).pk,
            "membership": account.integrator.memberships.get(role="member").pk,
            "seller": seller["seller"].pk,
            "key": seller["key"].pk,
            "order": seller["orders"]["new"].pk,
            "order_id": seller["orders"]["new"].code,
            "invoice": seller["invoice"].pk,
            "access_key": seller["invoice"].access_key,
            "manifest": seller["manifest"].pk,
            "manifest_id": seller["manifest"].pk,
            "seller_call": seller["call"].pk,
            "seller_environment": "live",
            "seller_event": first.events.get(order=seller["orders"]["new"]).pk,
            "seller_test": first.events.get(order=None).pk,
            "seller_number": further.number,
            "further_event": further.events.get(order=seller["orders"]["new"]).pk,
            "further_test": further.events.get(order=None).pk,
            "test_environment": "sandbox",
            "test_order": seller["test_order"].pk,
            "test_order_id": seller["test_order"].code,
            "status": "collected",
            "seller_invitation": invitation.get(seller=seller["seller"]).pk,
            "seller_membership": seller["seller"].memberships.get(role="member").pk,
            "driver": held["driver"].pk,
            "device": held["device"].pk,
            "link": receivers.addresses([stop], at=self.world.now)[stop.pk].rsplit("/", 1)[1],
            "order_link": seller["orders"]["new"].tracking_url.rsplit("/", 1)[1],
            "seller_connection": seller["connection"].pk,
            "seller_shop_order": seller["shop_order"].pk,
            "connection": account.more["connection"].pk,
            "shop_order": account.more["shop_order"].pk,
            "seen": account.more["shop_order"].revision,
            "pickup": account.integrator.pickup_points.get(active=True).pk,
            "point": "B",
            "move": "collect",
            "change": "",
            "account_row": account,
            "seller_row": seller,
        }

    def variants(self, route: str, method: str, own: dict[str, Any]) -> list[dict[str, Any]]:
        """What is asked for beside the first thing that comes to hand."""
        account = own["account_row"]
        if "/instruct" in route or "/stops/" in route:  # at D a first attempt has failed
            return [{"point": "D"}]
        if "marketplace" in route:  # without a reference, another seller's order has the key
            return [{"items": "A-2"}, {"items": ""}]
        if "<str:change>" in route:
            of_pickup = ["deactivate", "activate"] if "pickup" in route else ["make-owner", "remove"]
            changes = ["resend", "revoke"] if "invitation" in route else of_pickup
            return [{"change": change} for change in changes]
        if method == "GET" and "<" not in re.sub(
            "^panel/(accounts|sellers)/<.*?>/<.*?>(/endpoints/<.*?>)?/", "", route
        ):
            return [{}, *({"query": query} for query in self.queries(route))]
        if "delivery" in route and "<" in route:
            moves = {"offer": "scheduled", "accept": "requested", "collect": "accepted", "deliver": "collected",
                     "release": "accepted", "reassign": "accepted", "fail": "collected", "position": "accepted",
                     "cancel": "requested", "expire": "requested", "decline": "requested",
                     "return": "undelivered"}  # fmt: skip  # a table
            if "<str:move>" in route:
                return [
                    {"move": move, "delivery": account.deliveries[state].pk}
                    for move, state in moves.items()
                    if state in account.deliveries and (move != "expire" or "sandbox" in route)
                ]
            state = next((state for move, state in moves.items() if f">/{move}" in route or f"{move}-" in route), "")
            key = account.deliveries.get(state, account.deliveries["failed"]).pk if state else None
            return [{"delivery": key, "delivery_id": key}] if state else [{}]
        return [{}]

    def queries(self, route: str) -> list[dict[str, str]]:
        """What narrows a list or names a row: the caller's, and what others have and the caller has not."""
        world = self.world
        if "events/progress" in route:
            moments = {"again_since": "2020-01-01T00:00:00+00:00", "again_until": "2099-01-01T00:00:00+00:00"}
            return [{**moments, "again_count": "1"}]
        if "tracking" in route:
            return [{"value": value, "type": "order_number"} for value in ("A-1", "A-9")]
        if "api/" in route:
            return [{"limit": "2"}]
        if "report" in route:
            day = str(world.now.date())
            return [{"since": day, "until": day}]
        if "sellers/" in route:
            return [{"q": text} for text in ("A-1", "A-9", "A-77", "TRACK")]
        others = [
            {"q": str(each.deliveries["closed"].pk), "test": str(each.more["test"].pk)}
            for each in (world.b, world.sandbox)
        ]
        return [{"q": "order-1"}, *others]

    def ask(self, route: str, method: str, values: dict[str, Any]) -> Ask:
        account, seller = values["account_row"], values["seller_row"]
        path = "/" + _ARGUMENT.sub(lambda found: str(values[self.key_of(route, found[1])]), route)
        data: Any = partial(self.data, route, values) if method in {"POST", "PATCH"} else values.get("query", {})
        options: dict[str, Any] = {}
        if route.startswith("api/"):
            texts = {"integration/sandbox/": "test_text", "integration/carrier/": "carrier_text"}
            key = seller[next((text for part, text in texts.items() if part in route), "text")]
            text = f"Basic {key}" if "integration/" in route else f"Bearer {account.token.clear_text}"
            options["headers"] = {"authorization": text, "idempotency-key": f"other-{IDEMPOTENCY_KEY}"}
            kept: list[Owner] = [("S",)] if "integration/" in route else [account.owner]
            client: Callable[[], Client] = Client
            is_json = "marketplace" not in route
        elif route.startswith("driver/"):
            state = "requested" if "offers" in route else "collected"
            name = f"Free {account.owner[1]} 1" if "offers" in route else "/".join((*account.owner, state))
            session = self.world.drivers[name]["session"]
            kept = [("free", "live", "1"), ("A", "live"), ("B", "live")] if "offers" in route else []
            kept += [(*account.owner, state)]
            client, is_json = lambda: Client(headers={"cookie": f"{cookie()}={session}"}), "photos" not in route
            if "photos" in route and method == "POST":
                query = {"id": str(UUID(int=0xFE)), "deliveryId": str(values["delivery"]), "point": "B",
                         "takenAt": self.world.now.isoformat()}  # fmt: skip
                path += "?" + urlencode(query)
        elif route.startswith("t/"):
            owner = ("S",) if route.startswith("t/o/") else (*account.owner, "collected")
            kept, client, is_json = [owner], Client, False
        elif "accounts/<" in route:
            kept = self.of_account(route, account)
            client, is_json = self.browser("staff" if "/setup/" in route else "member"), False
        elif "sellers/<" in route:
            kept, is_json = [("S",)], False
            client = self.browser("staff" if re.search("/(sheet|carrier|void)/", route) else "seller")
        else:
            kept, person = self.of_staff(route, account)
            client, is_json = self.browser(person), "scan/movements" in route
        if method in {"POST", "PATCH"}:
            if is_json:
                options["content_type"] = "application/json"
            elif "photos" in route:
                options["content_type"] = "image/jpeg"
        needed = [("delivery_token", str(account.token.pk))] if route.startswith("api/") else []
        return Ask(method, path, kept, data, options, client, needed, values.get("foreign", ""))

    def of_account(self, route: str, account: Account) -> list[Owner]:
        """Whom a page of an account is about."""
        if re.search("deliveries/request|shop-orders", route):  # the estimate is of the nearest free driver
            return [account.owner, ("free", account.owner[1])]
        return [account.owner[:1] if re.search("/(team|setup|pickup-points|policy)/", route) else account.owner]

    def of_staff(self, route: str, account: Account) -> tuple[list[Owner], str]:
        """Whom a page of staff is about, and who opens it: one delivery or driver, else all of the live environment.

        Members search too, and find what is their account's.
        """
        if route == "panel/search/":
            return [account.owner[:1]], "member"
        if route == "panel/drivers/":
            return list(set(self.world.ledger.owners.values())), "staff"
        if "<uuid:driver>" in route:
            return [(*account.owner, "collected")], "staff"
        if "<uuid:delivery>" in route:
            return [account.owner, ("free", account.owner[1])], "staff"
        live = (owner for owner in set(self.world.ledger.owners.values()) if "sandbox" not in owner and len(owner) > 1)
        return list(live), "staff"

    def data(self, route: str, values: dict[str, Any]) -> Any:
        """The body of a POST."""
        now = self.world.now.isoformat()
        of_delivery = {"id": str(REPORT), "deliveryId": str(values["delivery"]), "madeAt": now, "trigger": "deliver",
                       "point": "B", "photos": [str(UPLOAD)], "pin": "0000"}  # fmt: skip
        if "api/integration/orders/cancel" in route:
            return {"orderId": "A-1", "order_id": "A-1", "tracking_code": "TRACK-1"}
        if "api/integration/labels" in route or "api/integration/manifests" in route:
            return {"orderIds": ["A-4" if route.endswith("remove") else "A-1"]}
        status = "delivered" if "sellers/" in route else "FAILED"
        bodies: dict[str, Callable[[], Any]] = {
            "sellers/<int:seller>/<environment:environment>/connections/": lambda: {
                "platform": "SHOPIFY", "name": "New name", "service": "base",
                "company": values["seller_row"]["seller"].companies.get().document,
                "length": "1", "width": "1", "height": "1", "weight": "1",
                "secret": "theirs",  # pragma: allowlist secret
            },
            "/connections/": lambda: {
                "platform": "SHOPIFY", "name": "New name", "pickup": str(values["pickup"]), "contact_phone": "1",
                "vehicle_type": "MOTORCYCLE", "secret": "theirs",  # pragma: allowlist secret
            },
            "shop-orders/": lambda: {
                "seen": str(values["seen"]), "order": f"{values['shop_order']}:{values['seen']}",
                "b-position": "-23.56,-46.65",
            } if "accounts/" in route else {
                **self.order_form(values), "seen": str(values["seller_row"]["shop_order"].revision),
                "order": f"{values['seller_shop_order']}:{values['seller_row']['shop_order'].revision}",
            },
            "api/integration/carrier/events": lambda: {
                "events": [
                    {"eventId": f"event-{number}", "trackingCode": code, "status": "collected"}
                    for number, code in enumerate(("TRACK-1", "TRACK-2", "T-8"), 1)
                ]
            },
            "<int:order>/carrier": lambda: {"carrier": str(values["seller_row"]["carrier"].pk)},
            "<environment:environment>/orders/labels": lambda: {
                "order": self.order_of(values), "size": "a6", "position": "1", "format": "pdf",
            },
            "/orders/new/": lambda: self.order_form(values),
            "<int:order>/correct/": lambda: self.order_form(values),
            "<environment:environment>/manifests": lambda: {"order": str(values["order"])},
            "api/integration/orders/<path:order_id>": lambda: {"volumes": 2},
            "api/integration/orders": lambda: order_body(
                orderId="A-9", trackingCode="TRACK-9", invoice={**order_body()["invoice"], "key": other_key(4)}
            ),
            "marketplace": lambda: {"nfe": _file(nfe_xml(key=other_key(9), items=(values["items"],)))},
            "/dropoffs/<str:point>/instruct": lambda: {"action": "LEAVE"},
            "/dropoffs/<str:point>": lambda: {"instructions": "Knock"},
            "/stops/<str:point>/": lambda: {"step": "answer", "answer": "LEAVE"},
            "/policy/": lambda: {"on_failure": "RETRY"},
            "-delivery": lambda: {} if "cancel" in route else body(),
            "api/integration/sandbox": dict,
            "api/sandbox": lambda: (
                {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude} if "position" in route else {}
            ),
            "driver/moves": lambda: {"sentAt": now, "moves": [of_delivery]},
            "driver/positions": lambda: {
                "sentAt": now,
                "positions": [{"latitude": PICKUP.latitude, "longitude": PICKUP.longitude, "at": now}],
            },
            "scan/movements": lambda: {
                "sentAt": now,
                "person": self.world.staff.pk,
                "movements": [{"id": str(REPORT), "code": "TRACK-1", "status": "collected", "scannedAt": now}],
            },
            "driver/duty": lambda: {"onDuty": True},
            "driver/photos": photo,
            "driver/push": lambda: BROWSER.body,
            "driver/": dict,
            "/setup/": lambda: {"step": "link"},
            "alerts/times": lambda: {"untaken_minutes": "5", "late_minutes": "5"},
            "alerts/url": lambda: {"url": ""},
            "alerts/choose": lambda: {"failing": "1"},
            "endpoints/add": lambda: {"url": "http://127.0.0.1:9/new", "statuses": [status]},
            "webhook/filter": lambda: {"statuses": [status]},
            "webhook/authentication": lambda: {"kind": "bearer", "secret": "open-sesame"},  # pragma: allowlist secret
            "webhook/switch": lambda: {"enabled": "0"},
            "webhook/secret/rotate": lambda: {"end_previous": "1"},
            "events/resend/selected": lambda: {
                "event": [str(values[self.key_of(route, "event")]), *self.events_of_others(route)]
            },
            "events/resend": lambda: {"period": "day", "since": "2020-01-01T00:00", "until": "2099-01-01T00:00"},
            "<int:invoice>/unlink/": lambda: {"order": self.order_of(values), "reason": "Wrong"},
            "<int:invoice>/void/": lambda: {"reason": "Cancelled"},
            "api/integration/invoices/<str:access_key>": lambda: {"orderId": "A-1"},
            "<environment:environment>/invoices/<int:invoice>/": lambda: {"order": self.order_of(values)},
            "<environment:environment>/invoices/": lambda: {"nfe": _file(nfe_xml(key=other_key(9), items=("A-2",)))},
            "deliveries/request": lambda: {"step": "price", "vehicle_type": "MOTORCYCLE", "a-point": values["pickup"],
                                           "a-name": "A", "a-phone": "1", "b-position": "-23.56,-46.65"},
            "<uuid:delivery>/cancel/": lambda: {"fee": self.fee_of(values)},
            "pickup-points": lambda: {"name": "New name", "position": "-23.56,-46.65"},
            "team/": lambda: {"email": "new@example.com", "role": "member"},
            "board/": lambda: {"point": "B", "reason": "Nobody", "position": "-23.56,-46.65", "driver": ""},
            "<int:order>/move/": lambda: {"target": "collected"},
            "/sandbox/": lambda: {"point": "B", "reason": "Nobody", "position": "-23.56,-46.65"},
        }  # fmt: skip  # a table
        found = next((make for name, make in bodies.items() if name in route), None)
        return found() if found else {"name": "New name", "url": "", "step": "place"}

    @staticmethod
    def order_form(values: dict[str, Any]) -> dict[str, str]:
        """The form of an order without a freight, which can be created and corrected."""
        company = values["seller_row"]["seller"].companies.get()
        return {
            "step": "save", "agreed": "-", "seen": "0", "order-company": company.document, "order-code": "A-9",
            "order-service": "base", "to-name": "Ana", "to-zipcode": "40020-000", "to-street": "Rua Chile",
            "to-number": "5", "to-district": "Centro", "to-city": "Salvador", "to-state": "BA",
            "item1-description": "Livro", "item1-quantity": "1", "item1-price": "40", "item1-weight": "0,5",
            "item1-length": "20", "item1-width": "15", "item1-height": "3",
        }  # fmt: skip  # a table

    def events_of_others(self, route: str) -> list[str]:
        """One of each of the other endpoints; a page takes no more than it shows."""
        found: Any = WebhookEvent.objects.exclude(endpoint=self.world.a.endpoint)
        if "sellers/" in route:
            found = OrderEvent.objects.exclude(endpoint=self.world.s["endpoint"])
        first_ones = found.filter(copy_of=None).order_by("endpoint_id", "pk").distinct("endpoint_id")
        return [str(each.pk) for each in first_ones]

    def fee_of(self, values: dict[str, Any]) -> str:
        return str(Delivery.objects.get(pk=values["delivery"]).fee_of_cancelling)

    def order_of(self, values: dict[str, Any]) -> str:
        return str(values["seller_row"]["orders"]["sent"].pk)


def _file(text: str) -> Any:
    return SimpleUploadedFile("nfe.xml", text.encode(), "text/xml")


def cookie() -> str:
    return str(settings.DRIVER_COOKIE_NAME)

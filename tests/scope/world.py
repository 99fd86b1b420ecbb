"""Two accounts, both environments of one of them, and two sellers: each with something of everything.

What the others have is as like as possible (the same ids of callers, codes, phones, photos' ids) and at every limit,
so that a condition on the owner that is left out hits a row of another owner.
"""

import json
from dataclasses import dataclass, field, replace
from datetime import timedelta
from itertools import chain
from typing import Any
from uuid import UUID

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db.models import F
from django.test import Client
from django.utils import timezone

from access import invitations, personal_data
from access.models import PersonRequestKind as RequestKind
from access.personal_data import person
from common import credentials
from common.accounts import Role
from common.mail.models import Kind, Message
from common.shops.platforms import Platform
from common.webhooks import endpoints, feed
from common.webhooks.endpoints import CheckedUrl
from common.webhooks.outbox import outboxes
from delivery.accounts import tokens
from delivery.actions import deliveries
from delivery.alerts import actions as alerts
from delivery.alerts.models import AlertChoice, AlertPost
from delivery.connections import actions, drafts
from delivery.connections.models import Draft
from delivery.drivers import devices as driver_devices
from delivery.models import (
    ArrivalEstimate,
    AuditAction,
    AuditEntry,
    Delivery,
    Driver,
    DriverMove,
    DropoffOptions,
    Environment,
    GoodsInHand,
    IdempotencyRecord,
    Integrator,
    ProofPhoto,
    PushSubscription,
    RefusedDeliveryCall,
    RefusedDeliveryCallCount,
    Stop,
    StopProof,
    Token,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookEvent,
)
from delivery.payload import DeliveryRequest, Options, Place
from delivery.receivers import actions as receivers
from delivery.windows import Window
from integration.accounts import keys
from integration.actions import orders
from integration.carriers import actions as carriers
from integration.carriers import movements
from integration.carriers.movements import Movement
from integration.connections import actions as seller_connections
from integration.lifecycle import Status as OrderStatus
from integration.manifests import actions as manifests
from integration.models import EndpointAlerts as SellerAlerts
from integration.models import IdempotencyRecord as SellerRecord
from integration.models import (
    RefusedCarrierCall,
    RefusedCarrierCallCount,
    RefusedSellerCall,
    RefusedSellerCallCount,
    Seller,
)
from integration.models import WebhookEndpoint as SellerEndpoint
from tests.delivery.connections.shops import order
from tests.factories import (
    BY,
    DROPOFFS,
    PICKUP,
    DriverFactory,
    IntegratorFactory,
    PickupPointFactory,
    TariffFactory,
    add_endpoint,
    validated_payload,
)
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import (
    ACCESS_KEY,
    COMPANY,
    OTHER_COMPANY,
    SellerFactory,
    create_order,
    load_tariff,
    make_carrier,
    nfe_xml,
    send_invoice,
)
from tests.panel.conftest import refused_call
from tests.scope.rows import Ledger, Owner

# Of phones, and the same for all of them.
UPLOAD, REPORT = UUID(int=0xA), UUID(int=0xB)
IDEMPOTENCY_KEY = "same-key"
PHONE, DOCUMENT, RECEIVER = "+55 11 97777-0001", "529.982.247-25", "maria@example.com"
# The tests lower every limit to this. The others have reached it, and the caller has not.
LIMIT = 3
STATES: dict[str, tuple[str, ...]] = {
    "requested": (),
    "scheduled": (),
    "accepted": ("accept",),
    "collected": ("accept", "collect"),
    "closed": ("accept", "collect", "deliver"),
    "failed": ("accept", "collect", "fail", "return"),
}
INVITED = "ana@example.com"


def payload(**changes: Any) -> DeliveryRequest:
    """A request with three receivers who ask for proof."""
    options = Options(instructions="Ring", email=RECEIVER, needs_photo=True, has_pin=True)
    places = [
        Place(
            point=point,
            address={"street": f"Street {number}"},
            contact_name=f"Receiver {number}",
            contact_phone=PHONE,
            external_id=f"order-{number}",
            options=options,
        )
        for number, point in enumerate(DROPOFFS, 1)
    ]
    return validated_payload(dropoffs=places, **changes)


@dataclass
class Account:
    """An account in one environment."""

    owner: Owner
    integrator: Integrator
    user: User
    token: Token
    endpoint: WebhookEndpoint
    deliveries: dict[str, Delivery] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)


_URL = "http://127.0.0.1:9/{}"


class World:
    """Everybody's rows with their owners, and what calls take."""

    def __init__(self) -> None:
        self.drivers: dict[str, dict[str, Any]] = {}
        self.now = timezone.now()
        self.ledger = Ledger()
        TariffFactory.create()
        load_tariff()
        self.staff = User.objects.create_superuser("staff", "staff@example.com")
        self.ledger.settle()
        for environment in Environment.values:
            for number in "12":
                with self.ledger.owned_by("free", environment, number):
                    self.driver(environment, f"Free {environment} {number}")
        self.a = self.account("A", "live")
        self.sandbox = self.account("A", "sandbox", of=self.a)
        self.b = self.account("B", "live")
        with self.ledger.owned_by("B", "sandbox"):  # where simulated drivers are
            simulated = self.driver("sandbox", "Simulated for B")["driver"]
            Driver.objects.filter(pk=simulated.pk).update(simulated_for=self.b.integrator)
        self.s, self.t = self.seller("S", COMPANY), self.seller("T", OTHER_COMPANY)
        with self.ledger.owned_by("everybody"):
            for kind in RequestKind:
                personal_data.record(person(phone=PHONE), kind=kind, by=BY, at=self.now)
        self.cookies = {
            name: self.log_in(user)
            for name, user in (("member", self.a.user), ("seller", self.s["user"]), ("staff", self.staff))
        }
        self.settle()
        self.ledger.close()

    def settle(self) -> None:
        """Let webhooks wait for their next try, and events have their places in the feed."""
        for outbox in outboxes():
            outbox.items.objects.update(due_at=self.now + timedelta(hours=1), tries=2)
        for endpoint in chain(*(outbox.endpoints.objects.all() for outbox in outboxes())):
            feed.read(endpoint=endpoint, after=0, limit=100, at=self.now)

    def log_in(self, user: User) -> str:
        """The cookie of a session."""
        client = Client()
        client.force_login(user)
        return client.cookies.output(attrs=[], header="").strip()

    def driver(self, environment: str, name: str) -> dict[str, Any]:
        """A driver with a phone that reports positions."""
        driver = DriverFactory.create(name=name, environment=environment, at_point=PICKUP)
        link = driver_devices.issue_link(driver=driver, by=BY, at=self.now)
        device, session = driver_devices.log_in(token=link, phone="Phone", language="en", at=self.now)
        driver_devices.go_on_duty(device=device)
        unused = driver_devices.issue_link(driver=driver, by=BY, at=self.now)
        PushSubscription.objects.create(device=device, ciphertext=credentials.encrypt("{}"), created_at=self.now)
        found = {"driver": driver, "device": device, "session": session, "link": unused}
        self.drivers[name] = found
        return found

    def account(self, name: str, environment: str, *, of: Account | None = None) -> Account:
        """An account in an environment; that of `of`, if there is one. All but the first are at every limit."""
        is_own, now = name == "A" and environment == "live", self.now
        with self.ledger.owned_by(name):
            integrator = of.integrator if of else IntegratorFactory.create(name=f"Account {name}")
            user = of.user if of else self.team(integrator, name)
            if of is None:
                PickupPointFactory.create(integrator=integrator, name=f"Pickup {name}")
                PickupPointFactory.create(integrator=integrator, name="Closed", active=False)
                PickupPointFactory.create(integrator=integrator, name="Waiting", active=False, awaits_approval=True)
                TariffFactory.create(integrator=integrator, base_fare=ord(name))
        with self.ledger.owned_by(name, environment):
            token = tokens.issue(integrator=integrator, environment=Environment(environment), by=BY, at=now)
            found = WebhookEndpoint.objects.filter(integrator=integrator, environment=environment)
            found.update(url="http://127.0.0.1:9/hook", failures=0 if is_own else 50, last_success_at=now)
            account = Account((name, environment), integrator, user, token, found.get())
            if name == "B":  # a number that the caller's account has not
                add_endpoint(token)
            self.of_endpoint(account, tests=0 if is_own else LIMIT)
            self.of_shop(account)
            for _number in range(0 if is_own else LIMIT - 1):
                tokens.issue(integrator=integrator, environment=Environment(environment), by=BY, at=now)
        # The endpoint itself was made with the account.
        self.ledger.owners["delivery_webhookendpoint", str(account.endpoint.pk)] = account.owner
        # To be returned to A.
        states = STATES | ({"undelivered": ("accept", "collect", "fail")} if environment == "sandbox" else {})
        for state, moves in states.items():
            with self.ledger.owned_by(name, environment, state):
                account.deliveries[state] = self.delivery(account, state, moves)
        return account

    def team(self, account: Integrator | Seller, name: str) -> User:
        """The first owner of an account, a member, and whoever is invited."""
        owner = User.objects.create_user(f"owner-{name}", f"owner-{name}@example.com")
        account.memberships.create(user=owner, role=Role.OWNER)
        member = User.objects.create_user(f"member-{name}", f"member-{name}@example.com")
        account.memberships.create(user=member, role=Role.MEMBER)
        EmailAddress.objects.create(user=owner, email=owner.email, verified=True, primary=True)
        invited: dict[str, Any] = {"role": Role.MEMBER, "by": owner, "language": "en", "at": self.now}
        for number in range(1 if name in "AS" else LIMIT):
            email = f"{number or ''}{INVITED}"
            invitations.invite(account=account, email=email, **invited)
        return owner

    def of_endpoint(self, account: Account, *, tests: int) -> None:
        """Alerts, the audit trail, test events, answers to repeated calls and refused calls."""
        now, endpoint = self.now, account.endpoint
        scope = {"integrator": account.integrator, "environment": account.owner[1]}
        told = alerts._lock(endpoint)
        told.url_ciphertext, told.url_host = credentials.encrypt("http://127.0.0.1:9/alerts"), "127.0.0.1"
        told.save()
        for number in range(tests):
            at = now - timedelta(minutes=10 + number)
            AuditEntry.objects.create(**scope, action=AuditAction.ALERT_TESTED, by=BY, at=at)
            AuditEntry.objects.create(**scope, action=AuditAction.TEST_SENT, by=BY, at=at)
        AlertPost.objects.create(alerts=told, kind="test", text=f"Post {account.owner}", created_at=now, due_at=now)
        for membership in account.integrator.memberships.all():
            AlertChoice.objects.create(
                membership=membership, environment=account.owner[1], failing=True, off=True, recovered=True,
                digest=account.owner[1] == "live",
            )  # fmt: skip
        account.more["test"] = endpoints.send_test(endpoint=endpoint, by=BY, at=now - timedelta(hours=2))
        body = f'{{"of": "{account.owner}"}}'
        record = {"endpoint": "request-delivery", "key": IDEMPOTENCY_KEY, "fingerprint": b"", "status": 200}
        IdempotencyRecord.objects.create(**scope, **record, body=body, created_at=now)
        account.more["call"] = refused_call(RefusedDeliveryCall, **scope, answer=body)
        hour = now.replace(minute=0, second=0, microsecond=0)
        RefusedDeliveryCallCount.objects.create(**scope, hour=hour, refused=10 * tests + 1, over_limit=tests + 1)
        Message.objects.create(
            kind=Kind.ALERT, recipient=RECEIVER, subject="Alert", body_ciphertext="",
            created_at=now, expires_at=now + timedelta(days=1), due_at=now, ended_at=now, state="sent",
        )  # fmt: skip

    def of_shop(self, account: Account) -> None:
        """A connected shop with an order that can be requested."""
        integrator, environment = account.integrator, account.owner[1]
        settings = actions.Settings("Shop", integrator.pickup_points.get(active=True), contact_phone="1")
        made: dict[str, Any] = {"platform": Platform.WOOCOMMERCE, "settings": settings, "by": BY, "at": self.now}
        connection, _secret = actions.connect(integrator=integrator, environment=environment, **made)
        body = json.dumps(order(1)).encode()
        actions.receive(connection=connection, body=body, at=self.now, place=settings.pickup.point)
        found = Draft.objects.filter(connection=connection)
        found.update(is_test=False)
        drafts.check(found.get())
        account.more |= {"connection": connection, "shop_order": found.get()}

    def of_sellers_shop(self, seller: Seller) -> dict[str, Any]:
        """A connected shop with an order that can be made."""
        connection = seller_shops.shop(seller=seller)
        seller_connections.try_out(connection=connection, at=self.now)
        connection.drafts.update(is_test=False, missing=[])
        return {"connection": connection, "shop_order": connection.drafts.get()}

    def scheduled(self) -> DeliveryRequest:
        """A request for tomorrow."""
        asked = payload()
        return replace(asked, pickup=replace(asked.pickup, window=Window(self.now + timedelta(days=1))))

    def delivery(self, account: Account, state: str, moves: tuple[str, ...]) -> Delivery:
        """A delivery with its driver, phone, proofs, events and attempts."""
        at = self.now - timedelta(minutes=20)
        is_simulated = account.owner[1] == "sandbox" and state == "requested"
        speed = 1.0 if is_simulated else None
        asked = self.scheduled() if state == "scheduled" else payload()
        delivery = deliveries.request(token=account.token, payload=asked, by=BY, at=at, simulation_speed=speed)
        if not moves:
            receivers.addresses(list(delivery.stops.all()), at=at)
            return delivery
        environment = account.owner[1]
        held = self.driver(environment, "/".join((*account.owner, state)))
        device = held["device"]
        driver = device.driver
        delivery = deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at)
        for number, stop in enumerate(delivery.stops.all(), 1):
            self.proofs(stop, driver, at=at + timedelta(minutes=number))
            ArrivalEstimate.objects.create(
                stop=stop, arrives_at=at + timedelta(minutes=30 + number), earliest=at,
                latest=at + timedelta(hours=1), computed_at=at,
                engine=f"engine {number}", sequence=1,
            )  # fmt: skip
        if "collect" in moves:
            delivery = deliveries.collect(delivery=delivery, by=BY, at=at + timedelta(minutes=2))
            DriverMove.objects.create(
                driver=driver, report=REPORT, delivery=delivery, trigger="collect", made_at=at, received_at=at,
                refusal="route_taken" if account.owner != ("A", "live") else "", refusal_detail=f"By {driver.name}",
            )  # fmt: skip
        if state == "collected":
            GoodsInHand.objects.create(delivery=delivery, driver=driver, collected_at=at, reported_at=at)
            at_d = Stop.objects.get(delivery=delivery, index=2)
            DropoffOptions.objects.update_or_create(stop=at_d, defaults={"on_failure": "RETRY"})
            first: dict[str, Any] = {"point": "D", "reason": f"First of {account.owner}"}
            delivery = deliveries.fail(delivery=delivery, **first, by=BY, at=at + timedelta(minutes=2))
        for number, label in enumerate("BCD" if {"deliver", "fail"} & set(moves) else "", 3):
            end: dict[str, Any] = {"delivery": delivery, "point": label, "by": BY, "at": at + timedelta(minutes=number)}
            if "fail" in moves:
                deliveries.fail(**end, reason=f"Nobody at {label}")
            else:
                deliveries.deliver(**end)
        if "return" in moves:
            delivery = deliveries.return_(delivery=delivery, by=BY, at=at + timedelta(minutes=7))
        delivery.refresh_from_db()
        if delivery.closed_at is not None:  # otherwise the driver is among those who are free
            driver_devices.go_off_duty(driver=driver)
        events = WebhookEvent.objects.filter(delivery=delivery)
        events.update(attempts_made=1)
        for event in events:
            WebhookAttempt.objects.create(
                event=event, number=1, at=at, milliseconds=5, status_code=500, response_start=f"{account.owner} {state}"
            )
        return delivery

    def proofs(self, stop: Any, driver: Any, *, at: Any) -> None:
        """Photos, the receiver's link and name, and wrong PINs."""
        is_own = stop.index == 0 and self.ledger_is_at_first()
        for number in range(1 if is_own else LIMIT):
            upload = UPLOAD if not number else UUID(int=0xA + 16 * (number + 100 * stop.pk))
            if ProofPhoto.objects.filter(driver=driver, upload=upload).exists():
                upload = UUID(int=0xA + 16 * (number + 100 * stop.pk))
            ProofPhoto.objects.create(
                stop=stop, driver=driver, upload=upload, width=1, height=1, size=1, taken_at=at, received_at=at
            )
        receivers.addresses([stop], at=at)
        StopProof.objects.create(stop=stop, received_by=f"Someone {stop.label}", wrong_pins=0 if is_own else LIMIT)

    def ledger_is_at_first(self) -> bool:
        """Whether the account whose calls are made is being built."""
        return not hasattr(self, "a")

    def seller(self, name: str, document: str) -> dict[str, Any]:
        """A seller with orders in several states, an invoice, a key and refused calls."""
        now, is_own = self.now, name == "S"
        with self.ledger.owned_by(name):
            seller = SellerFactory.create(name=f"Seller {name}", documents=(document,))
            user = self.team(seller, name)
            issued = keys.issue(seller=seller, by=BY, at=now)
            endpoint = endpoints.first(SellerEndpoint, owner=seller.pk, environment="live")
            endpoint = endpoints.store_url(endpoint=endpoint, url=CheckedUrl(_URL.format(name)), by=BY, at=now)
            further = CheckedUrl(_URL.format(f"{name}/2"))
            SellerAlerts.objects.create(endpoint=endpoint)
            other = endpoints.add(beside=endpoint, url=further, statuses=[], by=BY, at=now)
            for each in (endpoint, other):
                endpoints.send_test(endpoint=each, by=BY, at=now)
            for _number in range(0 if is_own else LIMIT - 1):
                keys.issue(seller=seller, by=BY, at=now)
            body = f'{{"of": "{name}"}}'
            record = {"endpoint": "orders", "key": IDEMPOTENCY_KEY, "fingerprint": b"", "status": 200, "body": body}
            SellerRecord.objects.create(seller=seller, **record, created_at=now)
            call = refused_call(RefusedSellerCall, seller=seller, answer=body)
            hour = now.replace(minute=0, second=0, microsecond=0)
            RefusedSellerCallCount.objects.create(
                seller=seller, hour=hour, refused=1 if is_own else 11, over_limit=1 if is_own else 5
            )
        found: dict[str, Any] = {
            "seller": seller, "user": user, "key": issued.key, "text": issued.clear_text, "call": call, "orders": {},
            "endpoint": endpoint, "endpoints": (endpoint, other),
        }  # fmt: skip
        for number, state in enumerate(("new", "sent", "delivered", "listed"), 1):
            with self.ledger.owned_by(name, state):
                order = create_order(
                    seller, company_document=document, orderId=f"A-{number}", trackingCode=f"TRACK-{number}",
                    invoice=None if state != "delivered" else {"number": "123", "series": "1", "key": other_key(3),
                                                     "value": 150, "issueDate": "2026-11-20 10:00:00"},
                )  # fmt: skip
                steps = [OrderStatus.COLLECTED, OrderStatus.IN_TRANSIT, OrderStatus.OUT_FOR_DELIVERY]
                for step in (*steps, OrderStatus.DELIVERED)[
                    : {"new": 0, "sent": 1, "delivered": 4, "listed": 0}[state]
                ]:
                    order = orders.move(order=order, to=step, by=BY, at=now)
                found["orders"][state] = order
        with self.ledger.owned_by(name, "sandbox"):
            found["test_order"] = create_order(
                seller, Environment.SANDBOX, company_document=document, orderId="sim-manual-1", trackingCode="TEST"
            )
            test_key = keys.issue(seller=seller, environment=Environment.SANDBOX, by=BY, at=now)
            found["test_text"] = test_key.clear_text
        with self.ledger.owned_by(name, "listed"):
            found["manifest"] = manifests.create(
                seller=seller, environment=Environment.LIVE, orders=[found["orders"]["listed"]], by=BY, at=now
            )
        found |= self.carrier(name, [*found["orders"].values()])
        with self.ledger.owned_by(name, "new"):
            found["invoice"] = send_invoice(seller, nfe_xml(items=("A-1",)).encode())
        with self.ledger.owned_by(name):
            found |= self.of_sellers_shop(seller)
        for number in range(0 if is_own else LIMIT - 1):
            with self.ledger.owned_by(name):
                send_invoice(seller, nfe_xml(key=other_key(number + 4), items=("A-77",)).encode())
        if not is_own:  # names an invoice that the first seller will send
            with self.ledger.owned_by(name):
                create_order(
                    seller, company_document=document, orderId="A-9", trackingCode="TRACK-9",
                    invoice={"number": "9", "series": "1", "key": other_key(9), "value": 1,
                             "issueDate": "2026-11-20 10:00:00"},
                )  # fmt: skip
            with self.ledger.owned_by(name):  # whose id is a part of the first seller's tracking codes
                create_order(seller, company_document=document, orderId="TRACK", trackingCode="T-8", invoice=None)
        Seller.objects.filter(pk=seller.pk).update(invoice_bytes=F("invoice_bytes") + 1)
        return found

    def carrier(self, name: str, moved: list[Any]) -> dict[str, Any]:
        """A carrier of these orders, with a key, an event and refused calls."""
        now = self.now
        with self.ledger.owned_by(name):
            carrier, text = make_carrier(f"Carrier {name}")
            event = Movement("event-0", "TRACK-2", OrderStatus.COLLECTED)
            carriers.assign(orders=moved, carrier=carrier, by=BY, at=now)
            if name != "S":  # its carrier has reported the event that the first seller's is to report
                event = replace(event, event_id="event-1")
            movements.record([event], orders=carriers.orders_of(carrier), source=carrier.source, by=BY, at=now)
            refused_call(RefusedCarrierCall, carrier=carrier, answer=f'{{"of": "{name}"}}')
            RefusedCarrierCallCount.objects.create(carrier=carrier, hour=now, refused=1, over_limit=1)
        return {"carrier": carrier, "carrier_text": text, "carrier_key": carrier.keys.get()}


def other_key(number: int) -> str:
    """Another valid access key of an invoice."""
    body = f"{ACCESS_KEY[:34]}{number:09d}"
    weights = [2 + place % 8 for place in range(43)]
    rest = 11 - sum(int(digit) * weight for digit, weight in zip(reversed(body), weights, strict=True)) % 11
    return f"{body}{0 if rest > 9 else rest}"

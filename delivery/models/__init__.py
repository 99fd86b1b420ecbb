"""Models of area A, by subject. Imported from here by all but each other; those of leaves alone, from the leaf."""

from common.accounts import Environment
from common.fields import parse_id
from common.webhooks.models import FAILING, STATE_NAMES, EventState, OffBecause
from delivery.models.call import IdempotencyRecord, RefusedDeliveryCall, RefusedDeliveryCallCount
from delivery.models.delivery import Delivery, Transition
from delivery.models.dispatch_rules import DispatchRules, DispatchRulesChange, Rules
from delivery.models.driver import (
    DeclinedOffer,
    Driver,
    DriverDevice,
    DriverLogInLink,
    DriverMove,
    DriverPosition,
    DutyChange,
    LatestPosition,
    PushSubscription,
    VehicleType,
)
from delivery.models.goods import GoodsInHand
from delivery.models.integrator import (
    AuditAction,
    AuditEntry,
    Integrator,
    IntegratorMembership,
    PickupPoint,
)
from delivery.models.simulation import Simulation
from delivery.models.stop import (
    ArrivalEstimate,
    DropoffOptions,
    ProofPhoto,
    ReceiverLink,
    ReceiverNote,
    Stop,
    StopChange,
    StopProof,
)
from delivery.models.tariff import Tariff, TariffChange
from delivery.models.token import AccountScope, Requester, Token
from delivery.models.webhook import WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any
from uuid import NAMESPACE_OID, UUID, uuid5

import pgtrigger
from django.contrib.postgres.expressions import ArraySubquery
from django.core import signing
from django.db import models
from django.db.models import F, Func, Q
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.brazil.phones import ends_with, phone_key, unusual_phones
from common.fields import (
    CiphertextField,
    Folded,
    any_of,
    composed,
    composed_column,
    folded,
    not_personal,
    one_of,
    personal,
)
from common.postgresql import prepared, updates
from common.postgresql.forgetting import EMPTY, FEWER_KEYS, ROUNDED, SET_ONCE, read_only_but_forgotten
from delivery import lifecycle, words
from delivery.lifecycle import FailureCode, Mode, OnFailure, Status
from delivery.models.bases import Identified, Located, on_earth, quoted
from delivery.models.driver import Driver
from delivery.models.token import Requester
from delivery.windows import Window

LABELS = "BCD"
# Columns with personal data of stops, and of deliveries about A, and what `delivery.actions.forgetting` leaves in them.
FORGOTTEN = {
    "contact_name": EMPTY,
    "contact_phone": EMPTY,
    "address": FEWER_KEYS,
    "latitude": ROUNDED,
    "longitude": ROUNDED,
    "forgotten_at": SET_ONCE,
}
# A closed stop stays as it was.
_IS_OPEN = f"OLD.status IN ({quoted(lifecycle.OPEN)})"
# The delivery whose stop a row is, or is of.
_TOUCH = updates.touch("delivery_delivery", "SELECT NEW.delivery_id")
_TOUCH_BY_STOP = updates.touch("delivery_delivery", "SELECT delivery_id FROM delivery_stop WHERE id = NEW.stop_id")
MOST_WRONG_PINS = 5
LONGEST_INSTRUCTIONS = 500
LONGEST_RECEIVES, LONGEST_HINT = 80, 160
_signer = signing.TimestampSigner(salt="delivery.ProofPhoto")
_LONGEST_SIGNED = 150
# How long a signed address works.
ADDRESS_WORKS_FOR = timedelta(hours=1)
_REPEATED_WITHIN = timedelta(hours=24)
# Of each externalId the newest twenty orders are looked at, so that a call costs the same however many there were.
_REPEATED = """
SELECT sent.digest, used.delivery_id
FROM unnest(%(digests)s::bytea[]) AS sent (digest)
CROSS JOIN LATERAL (
    SELECT recent.delivery_id
    FROM (SELECT id, delivery_id, status FROM delivery_stop WHERE external_id_digest = sent.digest
          ORDER BY id DESC LIMIT 20) recent
    JOIN delivery_delivery delivery ON delivery.id = recent.delivery_id
    WHERE recent.status <> 'FAILED' AND delivery.created_at > %(since)s
    ORDER BY recent.id DESC LIMIT 1
) used
"""
# Until the end of the transaction, in the order of the keys, which is the same in all transactions.
_LOCK = "SELECT pg_advisory_xact_lock(key) FROM unnest(%s::bigint[]) key"


def _updates_delivery(name: str, operation: Any, func: str) -> pgtrigger.Trigger:
    return pgtrigger.Trigger(name=name, when=pgtrigger.After, operation=operation, func=func)


class Stop(Located):
    """One drop-off of a delivery: an item of `orders` in the API. In mode REVERSE a pickup.

    Only its status, its failure and, until the driver has been there, its contact can change.

    The label shown for `index` is a letter of `LABELS`; "A" is the delivery's pickup.
    """

    delivery = models.ForeignKey(
        "delivery.Delivery",
        verbose_name=_("delivery"),
        on_delete=models.CASCADE,
        related_name="stops",
        db_index=False,  # an index begins with this column
    )
    index = models.PositiveSmallIntegerField(_("index"), help_text=_("0 for B, 1 for C, 2 for D."))
    external_id = not_personal(models.CharField(_("external id"), max_length=255, blank=True))
    # `digest_of` the externalId. None without one, and of stops that are older than the column.
    external_id_digest = not_personal(models.BinaryField(max_length=32, null=True, editable=False))
    contact_name = personal(models.CharField(_("contact name"), max_length=255, blank=True))
    contact_phone = personal(models.CharField(_("contact phone"), max_length=255, blank=True))
    address = personal(models.JSONField(_("address")))
    status = models.CharField(_("status"), max_length=9, choices=[(s.value, words.STATUSES[s]) for s in Status])
    # None: the stop has not failed, or failed before there were codes.
    failure_code = models.CharField(  # noqa: DJ001  # nullable, so that the previous version can write rows
        _("failure code"),
        max_length=20,
        null=True,
        blank=True,
        choices=[(code.value, words.FAILURES[code]) for code in FailureCode],
    )
    # What was written beside the code.
    failure_reason = personal(models.CharField(_("failure reason"), max_length=255, blank=True))
    # When it failed for the first time and was put behind the others, to be tried again. None: it was not.
    tried_at = models.DateTimeField(_("first attempt at"), null=True, editable=False)
    # From when and until when it can be delivered, or in mode REVERSE collected, where the request says so.
    ready_at = models.DateTimeField(_("ready at"), null=True, editable=False)
    deadline_at = models.DateTimeField(_("deadline"), null=True, editable=False)
    forgotten_at = models.DateTimeField(_("anonymised at"), null=True, editable=False)

    class Meta:
        verbose_name = _("stop")
        verbose_name_plural = _("stops")
        ordering = ["delivery_id", "index"]  # "delivery" would join it, to sort by its own ordering
        constraints = [
            on_earth("stop_on_earth"),
            models.UniqueConstraint(fields=["delivery", "index"], name="one_stop_per_index"),
            models.CheckConstraint(name="stop_index_b_c_or_d", condition=Q(index__gte=0, index__lt=len(LABELS))),
            models.CheckConstraint(
                name="stop_status_known", condition=Q(status__in=[status.value for status in Status])
            ),
            models.CheckConstraint(
                name="stop_tried_after_pickup",
                condition=Q(tried_at=None) | Q(status__in=["COLLECTED", "DELIVERED", "FAILED"]),
            ),
        ]
        indexes = [
            models.Index(composed_column("external_id"), name="stop_external_id", condition=~Q(external_id="")),
            models.Index(
                fields=["external_id_digest", "-id"],
                name="stop_repeated_external_id",
                condition=Q(external_id_digest__isnull=False),
            ),
            models.Index(phone_key("contact_phone"), name="stop_phone", condition=~Q(contact_phone="")),
            unusual_phones("contact_phone", name="stop_unusual_phone"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="stop_immutable",
                exclude=["status", "failure_code", "failure_reason", "tried_at", *FORGOTTEN],
            ),
            read_only_but_forgotten(
                "stop_forgotten", FORGOTTEN, unless=dict.fromkeys(("contact_name", "contact_phone"), _IS_OPEN)
            ),
            pgtrigger.Protect(
                name="stop_tried_once",
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__tried_at__isnull=False)
                & pgtrigger.Q(old__tried_at__df=pgtrigger.F("new__tried_at")),
            ),
            pgtrigger.Protect(
                name="stop_closed_stays_closed",
                operation=pgtrigger.Update,
                condition=~pgtrigger.Q(old__status__in=[s.value for s in lifecycle.OPEN])
                & ~pgtrigger.Q(old__status=pgtrigger.F("new__status")),
            ),
            # What a move changes it writes into the delivery too.
            _updates_delivery("stop_updates_delivery", pgtrigger.UpdateOf(*FORGOTTEN), _TOUCH),  # type: ignore[no-untyped-call]
            # No stop can be added to an accepted route or removed from it. FOR SHARE waits for the end of an
            # acceptance that holds the delivery's row lock.
            pgtrigger.Trigger(
                name="stop_set_is_locked",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Delete,
                declare=[("route", "text")],
                func="""
                    SELECT route_status INTO route FROM delivery_delivery
                        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.delivery_id ELSE OLD.delivery_id END
                        FOR SHARE;
                    IF route IS NOT NULL AND route NOT IN ('AVAILABLE', 'SCHEDULED') THEN
                        RAISE EXCEPTION 'rota: the stops of an accepted route cannot change';
                    END IF;
                    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;
                    RETURN OLD;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.external_id}".strip()

    @staticmethod
    def digest_of(external_id: str, *, token: Requester) -> bytes | None:
        """What identifies an externalId, composed, among those of all accounts and environments. None without one."""
        if not external_id:
            return None
        text = f"{token.integrator_id.hex} {token.environment} {composed(external_id)}"
        return hashlib.sha256(text.encode()).digest()

    @staticmethod
    def repeated(stops: Iterable["Stop"], *, at: datetime, lock: bool = False) -> dict[str, UUID]:
        """The externalIds of unsaved stops that an order of their account and environment had less than 24 hours ago.

        Each with the newest delivery that has such an order. Orders that have FAILED do not count. `lock`: first wait
        for other transactions that look for one of them with a lock, and let further ones wait for the end of this.
        """
        digests = {stop.external_id: stop.external_id_digest for stop in stops if stop.external_id_digest}
        if not digests:
            return {}
        query = (_REPEATED, {"digests": list(digests.values()), "since": at - _REPEATED_WITHIN})
        if lock:
            keys = sorted(int.from_bytes(digest[:8], signed=True) for digest in digests.values())
            rows = prepared.execute_together((_LOCK, [keys]), query)
        else:
            rows = prepared.execute(*query).fetchall()
        found = {bytes(digest): delivery for digest, delivery in rows}
        return {external_id: found[bytes(digest)] for external_id, digest in digests.items() if digest in found}

    @staticmethod
    def with_external_id(external_id: str) -> "models.QuerySet[Stop]":
        """Those of all accounts, by an index, which has no empty ones."""
        return Stop.objects.exclude(external_id="").filter(external_id__composed=external_id)

    @staticmethod
    def refers_to(delivery: str, *, external_id: str) -> Func:
        """The condition that `delivery`, the name of a key, is of a delivery with this externalId at a drop-off."""
        return any_of(delivery, ArraySubquery(Stop.with_external_id(external_id).values("delivery")))

    @staticmethod
    def of_some_with(deliveries: ArraySubquery, *, text: str) -> Func:
        """The condition that a delivery's `pk` is one of `deliveries` with this text in an externalId or recipient.

        Case and accents do not matter. Digits are also looked for at the end of recipients' phones. No index serves
        this, so the keys are to be few.
        """
        part = folded(text)
        stops = Stop.objects.filter(any_of("delivery", deliveries)).alias(
            id_text=Folded("external_id"), name_text=Folded("contact_name")
        )
        found = stops.filter(Q(id_text__contains=part) | Q(name_text__contains=part) | ends_with("contact_phone", text))
        return any_of("pk", ArraySubquery(found.values("delivery")))

    @property
    def label(self) -> str:
        return LABELS[self.index]

    @property
    def window(self) -> Window:
        return Window(self.ready_at, self.deadline_at)

    @property
    def is_expected(self) -> bool:
        """Whether a driver is on the way to it, or comes to it later."""
        return self.is_ahead and self.status != Status.PENDING

    @property
    def is_ahead(self) -> bool:
        """Whether the driver has still to go there."""
        return self.status in lifecycle.AHEAD[Mode(self.delivery.mode)]

    @property
    def pickup_status(self) -> str:
        """What pages call its status where it is a pickup, in mode REVERSE; empty otherwise."""
        if self.delivery.mode != Mode.REVERSE:
            return ""
        # What was collected until a cancellation is FAILED too.
        is_cancelled = self.status == Status.FAILED and not self.failure_code and self.delivery.cancelled_at
        return gettext("Cancelled") if is_cancelled else str(words.PICKUPS[self.status])

    @property
    def failure(self) -> str:
        """Why it failed, the last time or the first one; in the active language, empty unless it did."""
        return words.failure(self.failure_code or "", self.failure_reason)


class DropoffOptions(models.Model):
    """What a request asked for at a drop-off with the optional keys. Without these keys there is no row.

    The account can change instructions and e-mail until the driver has been there, and the policy after a failure.
    """

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="options")
    instructions = personal(models.CharField(_("instructions"), max_length=LONGEST_INSTRUCTIONS, blank=True))
    contact_email = personal(models.EmailField(_("email"), blank=True))
    needs_photo = models.BooleanField(_("needs a photo"), default=False)
    # Of four digits. Empty: none is asked for.
    pin_ciphertext = personal(CiphertextField(blank=True))
    on_failure = models.CharField(
        _("when it fails"),
        max_length=6,
        choices=[(policy.value, words.POLICIES[policy]) for policy in OnFailure],
        default=OnFailure.RETURN.value,
        db_default=OnFailure.RETURN.value,
    )

    class Meta:
        default_permissions = ()
        verbose_name = _("options of a drop-off")
        verbose_name_plural = _("options of drop-offs")
        constraints = [one_of("dropoff_options_on_failure", "on_failure", [policy.value for policy in OnFailure])]
        triggers = [
            pgtrigger.ReadOnly(
                name="dropoff_options_immutable",
                exclude=["pin_ciphertext", "instructions", "contact_email", "on_failure"],
            ),
            pgtrigger.Trigger(
                name="dropoff_options_until_its_end",
                when=pgtrigger.Before,
                operation=pgtrigger.UpdateOf("instructions", "contact_email", "on_failure"),  # type: ignore[no-untyped-call]
                declare=[("is_open", "boolean")],
                func=f"""
                    SELECT status IN ({quoted(lifecycle.OPEN)}) INTO is_open
                        FROM delivery_stop WHERE id = NEW.stop_id;
                    IF NOT is_open THEN
                        RAISE EXCEPTION 'rota: what was asked for at a closed stop cannot change';
                    END IF;
                    RETURN NEW;
                """,  # noqa: S608  # nosec B608  # constants
            ),
            _updates_delivery(
                "dropoff_options_update_delivery",
                pgtrigger.UpdateOf("instructions", "contact_email", "on_failure"),  # type: ignore[no-untyped-call]
                _TOUCH_BY_STOP,
            ),
        ]

    def __str__(self) -> str:
        return str(self.stop_id)

    @staticmethod
    def of(stop: Stop) -> "DropoffOptions":
        """Those of the stop; unsaved ones that ask for nothing where there is no row."""
        return DropoffOptions.objects.filter(pk=stop.pk).first() or DropoffOptions(stop=stop)

    @property
    def pin(self) -> str:
        """The PIN that the receiver tells the driver, or an empty string."""
        return credentials.decrypt(self.pin_ciphertext) if self.pin_ciphertext else ""

    @property
    def needs_pin(self) -> bool:
        return bool(self.pin_ciphertext)


class StopChange(models.Model):
    """What the account has changed of a stop, or answered to its first failure. Append-only.

    The statuses stay, so it is no `Transition` and has no event. An answer that ends the stop is a transition too.
    """

    stop = models.ForeignKey(Stop, on_delete=models.CASCADE, related_name="changes")
    contacts = models.BooleanField(_("contact"), default=False)
    instructions = models.BooleanField(_("instructions"), default=False)
    # What follows the failure. Empty: no answer.
    answer = models.CharField(
        _("answer"), max_length=6, blank=True, choices=[(policy.value, words.ANSWERS[policy]) for policy in OnFailure]
    )
    by = personal(models.CharField(_("by"), max_length=200))
    at = models.DateTimeField(_("at"))

    class Meta:
        default_permissions = ()
        verbose_name = _("change of a stop")
        verbose_name_plural = _("changes of stops")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="stop_change_of_something", condition=Q(contacts=True) | Q(instructions=True) | ~Q(answer="")
            ),
            one_of("stop_change_answer", "answer", ["", *(policy.value for policy in OnFailure)]),
        ]
        triggers = [
            pgtrigger.Protect(name="stop_change_append_only", operation=pgtrigger.Delete),
            pgtrigger.ReadOnly(name="stop_change_immutable"),
            # Also of options that there were none of before.
            _updates_delivery("stop_change_updates_delivery", pgtrigger.Insert, _TOUCH_BY_STOP),
        ]

    def __str__(self) -> str:
        return f"{self.stop_id} {self.text}"

    @property
    def text(self) -> str:
        """The answer, and what was changed, in the active language."""
        answer = str(self.get_answer_display()) if self.answer else ""
        contacts = gettext("Contact") if self.contacts else ""
        instructions = gettext("Instructions") if self.instructions else ""
        return " · ".join(filter(None, (answer, contacts, instructions)))


class StopProof(models.Model):
    """What proves that a stop was delivered, beside its photos. `wrong_pins`: refused tries so far."""

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="proof")
    received_by = personal(models.CharField(_("received by"), max_length=120, blank=True))
    pin_confirmed_at = models.DateTimeField(_("PIN confirmed at"), null=True)
    wrong_pins = models.PositiveSmallIntegerField(_("wrong PINs"), default=0)
    left_at_door = models.BooleanField(_("left at the door"), default=False, db_default=False)

    class Meta:
        default_permissions = ()
        verbose_name = _("proof of delivery")
        verbose_name_plural = _("proofs of delivery")
        constraints = [models.CheckConstraint(name="proof_wrong_pins", condition=Q(wrong_pins__lte=MOST_WRONG_PINS))]

    def __str__(self) -> str:
        return self.received_by


class ProofPhoto(Identified):
    """A photo that a driver took at a stop, encoded anew as JPEG.

    `upload` is the phone's own id of the photo, by which a repeated upload is found. The photos of simulated drivers
    have ids of their own, and are all the same picture, which is no file of the storage.
    """

    stop = personal(models.ForeignKey(Stop, on_delete=models.CASCADE, related_name="photos"))
    driver = personal(
        models.ForeignKey(
            Driver,
            on_delete=models.PROTECT,
            related_name="photos",
            db_index=False,  # the unique index begins with it
        )
    )
    upload = models.UUIDField()
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    size = models.PositiveIntegerField()  # bytes
    taken_at = personal(models.DateTimeField(_("taken at")))
    received_at = personal(models.DateTimeField(_("received at"), db_index=True))

    class Meta:
        default_permissions = ()
        verbose_name = _("photo of a delivery")
        verbose_name_plural = _("photos of deliveries")
        ordering = ["taken_at", "id"]
        constraints = [models.UniqueConstraint(fields=["driver", "upload"], name="proof_photo_once")]
        triggers = [_updates_delivery("photo_updates_delivery", pgtrigger.Insert, _TOUCH_BY_STOP)]

    def __str__(self) -> str:
        return self.name

    @property
    def name(self) -> str:
        """Its name in the storage of proofs: a folder for each day (UTC), so that days can be deleted."""
        return f"{self.received_at.astimezone(UTC):%Y-%m-%d}/{self.pk}.jpg"

    @staticmethod
    def simulated_upload(stop_id: int) -> UUID:
        """The id of the photo that a simulated driver takes at a stop."""
        return uuid5(NAMESPACE_OID, f"simulated photo {stop_id}")

    @property
    def is_simulated(self) -> bool:
        return self.upload == self.simulated_upload(self.stop_id)

    @property
    def path(self) -> str:
        """The path at which everybody can read it for an hour from now."""
        return reverse("proof-photo", args=[_signer.sign(self.pk.hex)])

    @staticmethod
    def find(signed: str) -> "ProofPhoto | None":
        """The photo of a signed path that works still, or None."""
        if len(signed) > _LONGEST_SIGNED:
            return None
        try:
            key = _signer.unsign(signed, max_age=ADDRESS_WORKS_FOR)
        except signing.BadSignature:
            return None
        return ProofPhoto.objects.filter(pk=key).first()


class ReceiverLink(models.Model):
    """The link with which a receiver follows one stop. Made when it is first asked for."""

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="receiver_link")
    digest = personal(models.BinaryField(max_length=32, unique=True, editable=False))
    ciphertext = personal(CiphertextField(editable=False))
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.stop_id)

    @property
    def token(self) -> str:
        """128 random bits in base64url, 22 characters."""
        return credentials.decrypt(self.ciphertext)


class ReceiverNote(models.Model):
    """What the receiver of a stop has told the driver on the receiver's page. Changes as long as the stop is open."""

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="receiver_note")
    receives = personal(models.CharField(_("who receives"), max_length=LONGEST_RECEIVES, blank=True))
    hint = personal(models.CharField(_("hint"), max_length=LONGEST_HINT, blank=True))
    written_at = personal(models.DateTimeField(_("written at")))

    class Meta:
        default_permissions = ()
        verbose_name = _("note of a receiver")
        verbose_name_plural = _("notes of receivers")

    def __str__(self) -> str:
        return str(self.stop_id)

    @property
    def text(self) -> str:
        """Both in one line."""
        return " · ".join(filter(None, (self.receives, self.hint)))


def ahead(prefix: str = "") -> Q:
    """The condition of `Stop.is_ahead`. `prefix`: the path to the stop, such as `stop__`."""
    mode, status = f"{prefix}delivery__mode", f"{prefix}status__in"
    return reduce(or_, (Q((mode, each), (status, statuses)) for each, statuses in lifecycle.AHEAD.items()))


class ArrivalEstimateQuerySet(models.QuerySet["ArrivalEstimate"]):
    def obsolete(self) -> "ArrivalEstimateQuerySet":
        """The estimates of stops at which no driver is expected any more."""
        return self.exclude(ahead("stop__") & ~Q(stop__status=Status.PENDING))


class ArrivalEstimate(models.Model):
    """When the driver is expected at a stop, and between which moments, as computed at `computed_at`.

    Workers renew it, see `delivery.actions.arrivals`; it is a little older than the latest move or position.
    """

    stop = models.OneToOneField(Stop, primary_key=True, on_delete=models.CASCADE, related_name="arrival")
    arrives_at = personal(models.DateTimeField(_("arrives at")))
    earliest = personal(models.DateTimeField(_("earliest")))
    latest = personal(models.DateTimeField(_("latest")))
    computed_at = models.DateTimeField(_("computed at"))
    # When the driver was last heard of then, by a position or a move. None in rows of the version before.
    signal_at = personal(models.DateTimeField(_("last signal"), null=True))
    engine = not_personal(models.CharField(max_length=8))  # osrm, valhalla or distance
    # The delivery's `last_sequence` that it was computed from. Another one: the route has moved since.
    sequence = models.PositiveIntegerField(db_default=0)

    objects = ArrivalEstimateQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(
                name="arrival_within_its_spread",
                condition=Q(earliest__lte=F("arrives_at"), latest__gte=F("arrives_at")),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stop_id} {self.arrives_at:%H:%M}"

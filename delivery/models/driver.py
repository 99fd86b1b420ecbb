from collections.abc import Collection
from datetime import datetime, tzinfo
from typing import Any, Self
from uuid import UUID

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Case, Exists, F, OuterRef, Q, When
from django.db.models.expressions import RawSQL
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.accounts import Environment, validate_name
from common.api.authentication import Credential
from common.fields import CiphertextField, not_personal, one_of, personal
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.postgresql.forgetting import EMPTY, read_only_but_forgotten
from delivery import lifecycle
from delivery.geo.distance import Point
from delivery.lifecycle import Trigger
from delivery.models.bases import Identified, Located, cartesian, cartesian_columns, distance_m, on_earth, quoted
from delivery.models.dispatch_rules import DispatchRules
from delivery.models.integrator import Integrator

_X, _Y, _Z = cartesian_columns()
# What a driver's phone may send later. An acceptance is none of these: it needs the answer at once.
FROM_PHONES = (Trigger.COLLECT, Trigger.DELIVER, Trigger.FAIL, Trigger.RETURN)

# Shares of the dispatch radius. Drivers are looked for within the smallest circle first. Each has about ten times the
# area of the one before it, so where drivers are dense, few are read besides those that are wanted.
CIRCLES = (0.1, 0.3, 1.0)


class VehicleType(models.TextChoices):
    MOTORCYCLE = "MOTORCYCLE", _("Motorcycle")
    CAR = "CAR", _("Car")


class DriverQuerySet(models.QuerySet["Driver"]):
    def free_for(self, *, vehicle_type: str, environment: str) -> Self:
        """On duty in this vehicle and environment, and holding no open route. Their distance is not considered."""
        return self.free(environment).filter(vehicle_type=vehicle_type)

    def free(self, environment: str) -> Self:
        """On duty in this environment, and holding no open route."""
        return self.filter(active=True, on_duty=True, environment=environment).exclude(
            deliveries__route_status__in=lifecycle.HELD
        )

    def for_account(self, integrator: UUID) -> Self:
        """Without the simulated drivers of other accounts."""
        return self.filter(Q(simulated_for=None) | Q(simulated_for=integrator))

    def not_declining(self, delivery_id: UUID) -> Self:
        """Without those who have declined this delivery."""
        return self.exclude(Exists(DeclinedOffer.objects.filter(driver=OuterRef("pk"), delivery=delivery_id)))

    def matching(self, text: str) -> Self:
        """Those whose name or phone contains the text, in any case. All of them for an empty text."""
        return self.filter(Q(name__composed__icontains=text) | Q(phone__icontains=text)) if text else self

    def by_distance(self, point: Point) -> Self:
        """Nearest first by the latest position, whatever its age; those without one last, by name.

        Annotates `distance_m`: metres to `point`, None without a position. Reads all of these drivers; restrict it by
        `last_seen_within` to read less.
        """
        metres = distance_m(["latest__x", "latest__y", "latest__z"], point)
        return self.annotate(distance_m=Case(When(latest__isnull=False, then=metres))).order_by(
            F("distance_m").asc(nulls_last=True), "name", "pk"
        )

    def may_reach(self, *, radius_m: float, fresh_since: datetime) -> Self:
        """Of `by_distance`, the drivers who were not farther away than `radius_m` at `fresh_since` or later."""
        return self.filter(Q(distance_m=None) | Q(distance_m__lte=radius_m) | Q(latest__recorded_at__lt=fresh_since))

    def last_seen_within(self, point: Point, *, radius_m: float) -> Self:
        """Of `by_distance`, those whose latest position is within the radius.

        Reads by an index those in the cube that encloses the sphere.
        """
        cube = {
            f"latest__{axis}__range": (centre - radius_m, centre + radius_m)
            for axis, centre in zip("xyz", cartesian(point), strict=True)
        }
        return self.filter(distance_m__lte=radius_m, **cube)


class Driver(Identified):
    """A person who takes routes. A sandbox driver is simulated and can take sandbox deliveries only.

    One that the service has created takes the deliveries of one account only, because its positions lead to the places
    of the deliveries that it took before.
    """

    name = personal(models.CharField(_("name"), max_length=120))
    phone = personal(models.CharField(_("phone"), max_length=40, blank=True))
    vehicle_type = models.CharField(_("vehicle type"), max_length=10, choices=VehicleType)
    environment = models.CharField(_("environment"), max_length=7, choices=Environment, default=Environment.LIVE)
    active = models.BooleanField(_("active"), default=True, help_text=_("Whether the driver works for us at present."))
    on_duty = models.BooleanField(_("on duty"), default=False, help_text=_("Whether the driver accepts offers now."))
    simulated_for = models.ForeignKey(
        Integrator,
        on_delete=models.PROTECT,
        related_name="simulated_drivers",
        null=True,
        editable=False,
        db_index=False,
    )

    objects = DriverQuerySet.as_manager()

    class Meta:
        verbose_name = _("driver")
        verbose_name_plural = _("drivers")
        ordering = ["name"]
        constraints = [
            one_of("driver_vehicle_type", "vehicle_type", VehicleType.values),
            one_of("driver_environment", "environment", Environment.values),
            models.CheckConstraint(
                name="driver_simulated_in_sandbox",
                condition=Q(simulated_for=None) | Q(environment=Environment.SANDBOX.value),
            ),
        ]
        indexes = [
            models.Index(
                fields=["simulated_for"], name="driver_simulated_for", condition=Q(simulated_for__isnull=False)
            ),
            models.Index(
                fields=["environment", "vehicle_type"],
                name="driver_on_duty",
                condition=Q(active=True, on_duty=True),
            ),
        ]
        triggers = [
            pgtrigger.Trigger(
                name="driver_fits_open_route",
                when=pgtrigger.Before,
                operation=pgtrigger.Update,
                condition=pgtrigger.Q(old__environment__df=pgtrigger.F("new__environment"))
                | pgtrigger.Q(old__vehicle_type__df=pgtrigger.F("new__vehicle_type"))
                | pgtrigger.Q(old__active=True, new__active=False),
                func=f"""
                    IF EXISTS (
                        SELECT FROM delivery_delivery
                        WHERE driver_id = OLD.id AND route_status IN ({quoted(lifecycle.HELD)})
                    ) THEN
                        RAISE EXCEPTION 'The driver holds a route' USING
                            ERRCODE = 'check_violation', CONSTRAINT = 'driver_fits_open_route';
                    END IF;
                    RETURN NEW;
                """,  # nosec B608  # constants
            ),
            pgtrigger.Trigger(
                name="driver_duty_recorded",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.Update,
                func="""
                    IF (NEW.active AND NEW.on_duty)
                        IS DISTINCT FROM (TG_OP = 'UPDATE' AND OLD.active AND OLD.on_duty) THEN
                        INSERT INTO delivery_dutychange (driver_id, on_duty, at)
                            VALUES (NEW.id, NEW.active AND NEW.on_duty, now());
                    END IF;
                    RETURN NULL;
                """,
            ),
        ]

    @property
    def zone(self) -> tzinfo:
        """The time zone of where the driver was last; that of the installation without a position."""
        latest: LatestPosition | None = getattr(self, "latest", None)
        return latest.zone if latest else timezone.get_default_timezone()

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        super().clean()
        validate_name(self.name)

    def fits(self, delivery: Any) -> bool:
        """Whether offers like this delivery are for the driver, by environment and account."""
        is_ours = self.simulated_for_id in (None, delivery.integrator_id)
        return is_ours and self.environment == delivery.environment

    def latest_position(self) -> "DriverPosition | None":
        return self.positions.order_by("-recorded_at").first()


class DutyChange(models.Model):
    """That a driver went on duty, or off duty. Append-only. Two in a row may say the same.

    Written by a trigger of the drivers' table, so that no change is missed, whoever makes it. A driver who does not
    work for us is not on duty.
    """

    driver = personal(
        models.ForeignKey(
            Driver,
            on_delete=models.CASCADE,
            related_name="duty_changes",
            db_index=False,  # an index begins with this column
        )
    )
    on_duty = personal(models.BooleanField())
    at = personal(models.DateTimeField())

    class Meta:
        default_permissions = ()
        indexes = [models.Index(fields=["driver", "at"], name="duty_change_of_driver")]
        triggers = [pgtrigger.ReadOnly(name="duty_change_append_only")]

    def __str__(self) -> str:
        return f"{self.driver_id} {self.on_duty}"


_NEAREST_FREE = f"""
(SELECT min(metres) FROM (
    SELECT sqrt((latest.x - a.x) ^ 2 + (latest.y - a.y) ^ 2 + (latest.z - a.z) ^ 2) AS metres
    FROM delivery_latestposition latest JOIN delivery_driver driver ON driver.id = latest.driver_id
    WHERE latest.x BETWEEN a.x - a.radius_m * {{share}} AND a.x + a.radius_m * {{share}}
        AND latest.y BETWEEN a.y - a.radius_m * {{share}} AND a.y + a.radius_m * {{share}}
        AND latest.z BETWEEN a.z - a.radius_m * {{share}} AND a.z + a.radius_m * {{share}}
        AND driver.active AND driver.on_duty
        AND driver.vehicle_type = a.vehicle_type AND driver.environment = a.environment
        AND (driver.simulated_for_id IS NULL OR driver.simulated_for_id = a.integrator)
        AND NOT EXISTS (
            SELECT FROM delivery_delivery held
            WHERE held.driver_id = driver.id AND held.route_status IN ({quoted(lifecycle.HELD)})
        )
) seen WHERE metres <= a.radius_m * {{share}})
"""  # noqa: S608  # nosec B608  # constants


def nearest_free_m() -> RawSQL:
    """Metres from where a route begins to the driver of `delivery.actions.drivers.nearest`, who is within the radius.

    By the latest positions, whatever their age; NULL if there is none. For a CompiledQuery with the Parameters
    `vehicle_type`, `environment`, `integrator`, `radius_m`, and `x`, `y` and `z` of that place, from `cartesian`.
    Within the radius the straight line is the distance. In SQL, so that the circles after the first one with a driver
    are not read.
    """
    circles = ", ".join(_NEAREST_FREE.format(share=share) for share in CIRCLES)
    values = {
        "vehicle_type": "text", "environment": "text", "integrator": "uuid",
        "radius_m": "float8", "x": "float8", "y": "float8", "z": "float8",
    }  # fmt: skip  # a table
    a = ", ".join(f"%s::{kind} AS {name}" for name, kind in values.items())
    return RawSQL(  # noqa: S611  # nosec B611  # constants and parameters
        f"SELECT COALESCE({circles}) FROM (SELECT {a}) a",  # noqa: S608  # nosec B608  # constants
        [Parameter(name) for name in values],
        output_field=models.FloatField(),
    )


class DriverPosition(Located):
    """A GPS fix of a driver. Append-only."""

    driver = models.ForeignKey(
        Driver,
        verbose_name=_("driver"),
        on_delete=models.CASCADE,
        related_name="positions",
        db_index=False,  # an index begins with this column
    )
    accuracy_m = not_personal(models.FloatField(_("accuracy (m)"), null=True, blank=True))
    recorded_at = personal(models.DateTimeField(_("recorded at")))
    # The moment that the phone told, by whatever clock: the same each time that it sends the position.
    told_at = personal(models.DateTimeField(null=True, editable=False))
    recorded_by = personal(models.CharField(_("recorded by"), max_length=200))

    class Meta:
        verbose_name = _("position")
        verbose_name_plural = _("positions")
        ordering = ["-recorded_at"]
        constraints = [
            on_earth("driver_position_on_earth"),
            models.CheckConstraint(
                name="driver_position_accuracy", condition=Q(accuracy_m=None) | Q(accuracy_m__gte=0)
            ),
        ]
        indexes = [
            models.Index(fields=["driver", "-recorded_at"], name="driver_position_latest"),
            # Rows are inserted nearly in the order of `recorded_at`, so a block range index finds the old ones.
            BrinIndex(fields=["recorded_at"], name="driver_position_age", pages_per_range=32),
        ]
        triggers = [
            # Once for each driver of a statement, because phones send several positions at a time. A position that
            # arrives late does not replace a newer one. In the order of the drivers, so that no two statements wait
            # for each other.
            pgtrigger.Trigger(
                name="driver_position_keeps_latest",
                when=pgtrigger.After,
                operation=pgtrigger.Insert,
                level=pgtrigger.Statement,
                referencing=pgtrigger.Referencing(new="inserted"),  # type: ignore[no-untyped-call]  # not annotated
                func="""
                    INSERT INTO delivery_latestposition AS latest (driver_id, latitude, longitude, recorded_at)
                        SELECT DISTINCT ON (driver_id) driver_id, latitude, longitude, recorded_at
                        FROM inserted ORDER BY driver_id, recorded_at DESC, id DESC
                        ON CONFLICT (driver_id) DO UPDATE SET
                            latitude = EXCLUDED.latitude, longitude = EXCLUDED.longitude,
                            recorded_at = EXCLUDED.recorded_at
                            WHERE latest.recorded_at <= EXCLUDED.recorded_at;
                    RETURN NULL;
                """,
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)  # without the place, because the admin's log keeps it

    def age_seconds(self, *, at: datetime) -> int:
        """Whole seconds from the position to `at`, rounded down; 0 for a position recorded after `at`."""
        return max(int((at - self.recorded_at).total_seconds()), 0)


class LatestPosition(Located):
    """The newest `DriverPosition` of each driver, kept by its trigger, with an index for finding drivers nearby.

    A row of its own and not columns of the driver: an update of the driver's row at every position would wait
    for the row lock of an acceptance, and an acceptance would skip a driver whose position is being recorded.
    """

    driver = models.OneToOneField(Driver, on_delete=models.CASCADE, primary_key=True, related_name="latest")
    recorded_at = personal(models.DateTimeField())
    # Earth-centred coordinates in metres.
    x = personal(models.GeneratedField(expression=_X, output_field=models.FloatField(), db_persist=True))
    y = personal(models.GeneratedField(expression=_Y, output_field=models.FloatField(), db_persist=True))
    z = personal(models.GeneratedField(expression=_Z, output_field=models.FloatField(), db_persist=True))

    class Meta:
        indexes = [models.Index(fields=["x", "y", "z"], name="latest_position_xyz")]

    def __str__(self) -> str:
        return f"{self.latitude:.5f}, {self.longitude:.5f}"

    def is_fresh(self, *, at: datetime) -> bool:
        """Whether it says where the driver is at this moment."""
        return self.recorded_at >= at - DispatchRules.current().position_fresh


class DriverLogInLink(models.Model):
    """A link with which a driver logs in on one phone, once and within a short time. Stored is its token's digest."""

    driver = models.ForeignKey(Driver, verbose_name=_("driver"), on_delete=models.CASCADE, related_name="log_in_links")
    digest = not_personal(models.BinaryField(max_length=32, unique=True, editable=False))
    created_at = models.DateTimeField(_("created at"))
    created_by = personal(models.CharField(_("created by"), max_length=200))
    expires_at = models.DateTimeField(_("expires at"))
    used_at = models.DateTimeField(_("used at"), null=True)

    class Meta:
        default_permissions = ()
        verbose_name = _("log-in link of a driver")
        verbose_name_plural = _("log-in links of drivers")

    def __str__(self) -> str:
        return f"{self.driver_id} {self.expires_at:%H:%M}"


class DriverDevice(Identified, Credential):
    """A phone that a driver is logged in on. Its session ends at `expires_at`, or when it is revoked.

    Of a driver's phones one sends positions: the one on which the driver went on duty last, or else the first that
    sends any. Two that send from two places would look like jumps.
    """

    driver = models.ForeignKey(Driver, verbose_name=_("driver"), on_delete=models.CASCADE, related_name="devices")
    name = personal(models.CharField(_("phone"), max_length=60, blank=True))  # browser and system
    hint = not_personal(models.CharField(max_length=20, editable=False))
    language = not_personal(models.CharField(max_length=10, default="pt-br"))
    expires_at = models.DateTimeField(_("expires at"), editable=False)
    reports_positions = models.BooleanField(_("reports positions"), default=False)
    dropped_positions = models.PositiveIntegerField(_("dropped positions"), default=0)

    class Meta:
        default_permissions = ()
        verbose_name = _("phone of a driver")
        verbose_name_plural = _("phones of drivers")
        ordering = ["-created_at"]
        constraints = [
            models.UniqueConstraint(
                fields=["driver"], name="one_reporting_phone_per_driver", condition=Q(reports_positions=True)
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.hint

    def may_send(self, *, at: datetime) -> bool:
        """Whether no other phone of the driver that is logged in sends positions."""
        others = DriverDevice.objects.filter(driver=self.driver_id, reports_positions=True).exclude(pk=self.pk)
        return self.reports_positions or not others.filter(revoked_at=None, expires_at__gt=at).exists()

    @staticmethod
    def find(clear_text: str, *, at: datetime) -> "DriverDevice | None":
        """The phone with this session, not ended, of a driver who works for us, with its driver; or None."""
        return _BY_DIGEST.first(digest=credentials.digest(clear_text), at=at)


_BY_DIGEST = CompiledQuery(
    lambda: (
        DriverDevice.objects.filter(
            digest=Parameter("digest"), revoked_at=None, expires_at__gt=Parameter("at"), driver__active=True
        )
        .select_related("driver")
        .order_by()[:1]
    )
)


class PushSubscriptionQuerySet(models.QuerySet["PushSubscription"]):
    def valid(self, *, at: datetime) -> Self:
        """The subscriptions of phones that are logged in."""
        return self.filter(device__revoked_at=None, device__expires_at__gt=at)

    def of_drivers(self, drivers: Collection[UUID], *, at: datetime) -> Self:
        """The valid ones of these drivers, each with its phone."""
        return self.valid(at=at).filter(device__driver__in=drivers).select_related("device")


class PushSubscription(models.Model):
    """Where a phone receives Web Push messages. The address is a secret: whoever knows it can send to the phone."""

    device = models.OneToOneField(DriverDevice, primary_key=True, on_delete=models.CASCADE, related_name="push")
    # JSON of the browser's PushSubscription: endpoint and keys.
    ciphertext = personal(CiphertextField())
    created_at = models.DateTimeField()
    # Since when no push was answered in time; None after one was.
    silent_since = models.DateTimeField(null=True, editable=False)

    objects = PushSubscriptionQuerySet.as_manager()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.device_id)


class DriverMove(Identified):
    """A move that a driver's phone has sent, and its outcome. Append-only.

    Phones send a move again until they have an answer. `report` is the phone's own id of the move, by which a
    repetition is found: it is given the outcome of the first. Written in the transaction of the move.
    """

    driver = models.ForeignKey(
        Driver,
        on_delete=models.CASCADE,
        related_name="moves",
        db_index=False,  # the unique index begins with it
    )
    report = models.UUIDField()
    delivery = models.ForeignKey("delivery.Delivery", on_delete=models.CASCADE, related_name="driver_moves")
    trigger = not_personal(models.CharField(max_length=10))
    point = not_personal(models.CharField(max_length=1, blank=True))
    made_at = models.DateTimeField(_("made at"))
    received_at = models.DateTimeField(_("received at"))
    # Code of the error that refused it. Empty: it was done.
    refusal = not_personal(models.CharField(max_length=60, blank=True))
    refusal_detail = personal(models.CharField(max_length=500, blank=True))

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["driver", "report"], name="driver_move_once"),
            one_of("driver_move_trigger", "trigger", [trigger.value for trigger in FROM_PHONES]),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="driver_move_append_only", exclude=["refusal_detail"]),
            read_only_but_forgotten("driver_move_forgotten", {"refusal_detail": EMPTY}),
        ]

    def __str__(self) -> str:
        return f"{self.trigger} {self.point}".strip()


class DeclinedOffer(models.Model):
    """An offer that a driver has declined: it is shown and pushed to this driver no more. Dispatchers may assign it."""

    driver = models.ForeignKey(
        Driver,
        on_delete=models.CASCADE,
        related_name="declined_offers",
        db_index=False,  # the unique index begins with it
    )
    delivery = models.ForeignKey("delivery.Delivery", on_delete=models.CASCADE, related_name="declined_offers")
    declined_at = models.DateTimeField(_("declined at"))

    class Meta:
        default_permissions = ()
        verbose_name = _("declined offer")
        verbose_name_plural = _("declined offers")
        constraints = [models.UniqueConstraint(fields=["driver", "delivery"], name="offer_declined_once")]

    def __str__(self) -> str:
        return f"{self.driver_id} {self.delivery_id}"

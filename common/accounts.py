"""What the accounts of both APIs have in common as rows: names, people, suspension, limits of calls."""

import re
import unicodedata
from datetime import datetime

import pgtrigger
from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _

from common.api.rate_limit import Limits
from common.errors import DomainError
from common.fields import not_personal, personal

_WEB_ADDRESS = re.compile(r"://|\bwww\.", re.IGNORECASE)


def validate_name(text: str) -> None:
    """Refuse line breaks, other control characters and web addresses. Raises ValidationError."""
    if any(unicodedata.category(character) in {"Cc", "Zl", "Zp"} for character in text):
        raise ValidationError(gettext("A name is one line, without control characters."))
    if _WEB_ADDRESS.search(text):
        raise ValidationError(gettext("A name contains no web address."))


class Environment(models.TextChoices):
    """What credentials of one environment make is not visible in the other."""

    LIVE = "live", _("Live")
    SANDBOX = "sandbox", _("Sandbox")


class Role(models.TextChoices):
    """Both may do everything with the account; owners also decide who else may."""

    OWNER = "owner", _("Owner")
    MEMBER = "member", _("Member")


class Membership(models.Model):
    """Abstract model. Subclasses add the foreign key to their account, and the trigger `keeps_an_owner`."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, verbose_name=_("user"), on_delete=models.CASCADE)
    # Owner by default, so that a membership that is made without a role lacks no right.
    role = models.CharField(_("role"), max_length=6, choices=Role, default=Role.OWNER, db_default=Role.OWNER)

    class Meta:
        abstract = True
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user}, {self.get_role_display()}"

    @property
    def is_owner(self) -> bool:
        return self.role == Role.OWNER


def keeps_an_owner(name: str, *, column: str, accounts: str) -> pgtrigger.Trigger:
    """Trigger of the table of memberships: an account with members has an owner when the transaction commits.

    `column` refers to the table `accounts`. The account's row is locked, so of two transactions that each remove one of
    two owners the second sees what the first has done.
    """
    return pgtrigger.Trigger(
        name=name,
        when=pgtrigger.After,
        operation=pgtrigger.Insert | pgtrigger.Update | pgtrigger.Delete,
        timing=pgtrigger.Deferred,
        declare=[("changed", f"{accounts}.id%TYPE")],
        func=pgtrigger.Func(  # type: ignore[no-untyped-call]  # pgtrigger's
            f"""
                changed := CASE TG_OP WHEN 'DELETE' THEN OLD.{column} ELSE NEW.{column} END;
                PERFORM FROM {accounts} WHERE id = changed FOR NO KEY UPDATE;
                IF EXISTS (SELECT FROM {{meta.db_table}} WHERE {column} = changed)
                   AND NOT EXISTS (SELECT FROM {{meta.db_table}} WHERE {column} = changed AND role = 'owner') THEN
                    RAISE EXCEPTION 'account % would have members and no owner', changed
                        USING ERRCODE = 'check_violation', CONSTRAINT = '{name}';
                END IF;
                RETURN NULL;
            """  # noqa: S608  # nosec B608  # made of constants
        ),
    )


LONGEST_REASON = 255
_MOST_CALLS = 1_000_000_000


class InvalidReason(DomainError):
    """The reason of a suspension is blank, longer than LONGEST_REASON or contains NUL. The message is translated."""

    code = "invalid_reason"

    def __init__(self) -> None:
        text = gettext("Say why, in at most %(most)s characters, none of them NUL.")
        super().__init__(text % {"most": LONGEST_REASON})


class Suspendable(models.Model):
    """Abstract model with suspension. Subclasses add the constraint `suspension_is_whole`."""

    # What pages call the state. The Portuguese word agrees with the noun.
    suspended_word = pgettext_lazy("account", "Suspended")

    suspended_at = models.DateTimeField(_("suspended at"), null=True, blank=True, editable=False)
    suspended_by = personal(
        models.CharField(_("suspended by"), max_length=200, blank=True, default="", db_default="", editable=False)
    )
    suspension_reason = not_personal(
        models.CharField(
            _("reason of the suspension"),
            max_length=LONGEST_REASON,
            blank=True,
            default="",
            db_default="",
            editable=False,
        )
    )

    class Meta:
        abstract = True

    @property
    def is_suspended(self) -> bool:
        return self.suspended_at is not None

    def write_suspension(self, *, reason: str, by: str, at: datetime) -> bool:
        """Suspend the row. Returns False, and changes nothing, if it is suspended already. Raises InvalidReason."""
        reason = reason.strip()
        if not reason or len(reason) > LONGEST_REASON or "\0" in reason:
            raise InvalidReason
        active = type(self)._default_manager.filter(pk=self.pk, suspended_at=None)
        return active.update(suspended_at=at, suspended_by=by, suspension_reason=reason) == 1

    def clear_suspension(self) -> bool:
        """Lift the suspension of the row. Returns False, and changes nothing, if it is not suspended."""
        suspended = type(self)._default_manager.filter(pk=self.pk, suspended_at__isnull=False)
        return suspended.update(suspended_at=None, suspended_by="", suspension_reason="") == 1


def suspension_is_whole(name: str) -> models.CheckConstraint:
    """Constraint that time, actor and reason are either all set or all empty."""
    return models.CheckConstraint(
        name=name,
        condition=Q(suspended_at=None, suspended_by="", suspension_reason="")
        | (Q(suspended_at__isnull=False) & ~Q(suspended_by="") & ~Q(suspension_reason="")),
    )


class LimitedAccount(models.Model):
    """Abstract model of an account whose credentials have limits of their own, or the installation's."""

    rate_limit_per_second = models.PositiveIntegerField(
        _("calls per second"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(_MOST_CALLS)],
        help_text=_("Of each token or key. Empty: this installation's RATE_LIMIT_PER_SECOND. 0: no limit."),
    )
    rate_limit_per_hour = models.PositiveIntegerField(
        _("calls per hour"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(_MOST_CALLS)],
        help_text=_("Of each token or key. Empty: this installation's RATE_LIMIT_PER_HOUR. 0: no limit."),
    )

    class Meta:
        abstract = True

    @property
    def rate_limits(self) -> Limits:
        """The account's own limits, or else the installation's."""
        second, hour = self.rate_limit_per_second, self.rate_limit_per_hour
        return Limits(
            settings.RATE_LIMIT_PER_SECOND if second is None else second,
            settings.RATE_LIMIT_PER_HOUR if hour is None else hour,
        )

"""People of an account of either API, and what they may do there."""

import pgtrigger
from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


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

"""What the credentials of both APIs, tokens and keys, have in common as rows."""

from datetime import datetime, timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _

_LAST_USE_RESOLUTION = timedelta(minutes=1)


class Credential(models.Model):
    """Abstract model of a credential that is found by its digest (`credentials.digest`) and can be revoked.

    Subclasses add `hint`, the part of the text that is displayed, under a label of their own.
    """

    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    created_at = models.DateTimeField(_("created at"), editable=False)
    created_by = models.CharField(_("created by"), max_length=200, editable=False)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True, editable=False)
    revoked_by = models.CharField(_("revoked by"), max_length=200, blank=True, editable=False)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True, editable=False)
    hint: "models.CharField[str, str]"

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.hint

    @property
    def account(self) -> str:
        """The account's name in logs: an id or a public reference."""
        raise NotImplementedError

    def revoke(self, *, by: str, at: datetime) -> bool:
        """Write the revocation. Returns False, and changes nothing, if the credential is revoked already."""
        valid = type(self)._default_manager.filter(pk=self.pk, revoked_at=None)
        return valid.update(revoked_at=at, revoked_by=by) == 1

    def record_use(self, *, at: datetime) -> None:
        """Write the time of last use, unless the last one written is less than a minute old."""
        if self.last_used_at is None or at - self.last_used_at >= _LAST_USE_RESOLUTION:
            type(self)._default_manager.filter(pk=self.pk).update(last_used_at=at)

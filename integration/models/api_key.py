from datetime import datetime, timedelta

from django.db import models
from django.utils.translation import gettext_lazy as _

from common import credentials
from integration.models.seller import Seller

_LAST_USE_RESOLUTION = timedelta(minutes=1)


class ApiKeyQuerySet(models.QuerySet["ApiKey"]):
    def find(self, text: str) -> "ApiKey | None":
        """The valid key with this clear text, with its seller. None: unknown or revoked."""
        return self.filter(digest=credentials.digest(text), revoked_at=None).select_related("seller").first()


class ApiKey(models.Model):
    """An API key of a seller. Only the digest of its text is stored; the text is shown once."""

    seller = models.ForeignKey(Seller, verbose_name=_("seller"), on_delete=models.CASCADE, related_name="keys")
    digest = models.BinaryField(max_length=32, unique=True, editable=False)
    hint = models.CharField(_("key"), max_length=20, editable=False, help_text=_("Its beginning and end."))
    created_at = models.DateTimeField(_("created at"), editable=False)
    created_by = models.CharField(_("created by"), max_length=200, editable=False)
    revoked_at = models.DateTimeField(_("revoked at"), null=True, blank=True, editable=False)
    revoked_by = models.CharField(_("revoked by"), max_length=200, blank=True, editable=False)
    last_used_at = models.DateTimeField(_("last used at"), null=True, blank=True, editable=False)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.hint

    def used_lately(self, *, at: datetime) -> bool:
        """Whether `last_used_at` is recent enough to be left, which avoids a write for every request."""
        return self.last_used_at is not None and at - self.last_used_at < _LAST_USE_RESOLUTION

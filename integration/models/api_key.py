from django.db import models
from django.utils.translation import gettext_lazy as _

from common import credentials
from common.authentication import Credential
from common.compiled_queries import CompiledQuery, Parameter
from integration.models.seller import Seller


class ApiKey(Credential):
    """An API key of a seller. Only the digest of its text is stored; the text is shown once."""

    seller = models.ForeignKey(Seller, verbose_name=_("seller"), on_delete=models.CASCADE, related_name="keys")
    name = models.CharField(
        _("name"), max_length=60, blank=True, db_default="", help_text=_("For people: the system that uses it.")
    )
    hint = models.CharField(_("key"), max_length=20, editable=False, help_text=_("Its beginning and end."))

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ["-created_at"]

    @property
    def title(self) -> str:
        """Its name with the hint, or the hint alone."""
        return f"{self.name} ({self.hint})" if self.name else self.hint

    @property
    def account(self) -> str:
        return self.seller.reference

    @staticmethod
    def find(text: str) -> "ApiKey | None":
        """The valid key with this clear text, with its seller. None: unknown or revoked."""
        return _BY_DIGEST.first(digest=credentials.digest(text))


_BY_DIGEST = CompiledQuery(
    lambda: ApiKey.objects.filter(digest=Parameter("digest"), revoked_at=None).select_related("seller").order_by()[:1]
)

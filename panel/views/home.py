"""The first page after the log-in."""

from django.db.models import Exists, OuterRef
from django.http import HttpRequest, HttpResponse

from access.rights import accounts_of, sellers_of
from delivery.models import Delivery, Environment, WebhookEndpoint
from panel.views.base import LoggedInView

# With more accounts and sellers than this the page has a search field.
_SEARCHED_FROM = 10
# Accounts, and sellers, that are shown at once.
_MAX_SHOWN = 100


def _webhook_states() -> dict[str, Exists]:
    """Whether the account's live webhooks have a URL, are off, and fail."""
    of_account = WebhookEndpoint.objects.filter(integrator=OuterRef("pk"), environment=Environment.LIVE).exclude(url="")
    return {
        "has_webhook": Exists(of_account),
        "webhooks_off": Exists(of_account.filter(enabled=False)),
        "webhooks_fail": Exists(of_account.failing()),
    }


class Home(LoggedInView):
    """The accounts and sellers that the user may see, narrowed by name with `q`.

    An account opens in the sandbox until it has its first live delivery.
    """

    def get(self, request: HttpRequest) -> HttpResponse:
        words = request.GET.get("q", "").strip()
        live = Delivery.objects.filter(integrator=OuterRef("pk"), environment=Environment.LIVE)
        accounts = (
            accounts_of(request.user).filter(name__icontains=words).annotate(is_live=Exists(live), **_webhook_states())
        )
        accounts = accounts[: _MAX_SHOWN + 1]
        sellers = sellers_of(request.user).filter(name__icontains=words)[: _MAX_SHOWN + 1]
        return self.page(
            "panel/home.html",
            accounts=accounts[:_MAX_SHOWN],
            sellers=sellers[:_MAX_SHOWN],
            words=words,
            has_search=bool(words) or len(accounts) + len(sellers) > _SEARCHED_FROM,
            has_more=max(len(accounts), len(sellers)) > _MAX_SHOWN,
            most=_MAX_SHOWN,
        )

"""The first page after the log-in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from access.rights import accounts_of, sellers_of
from panel.views.base import LoggedInView

# With more accounts and sellers than this the page has a search field.
_SEARCHED_FROM = 10
# Accounts, and sellers, that are shown at once.
_MAX_SHOWN = 100


class Home(LoggedInView):
    """The accounts and sellers that the user may see, narrowed by name with `q`."""

    def get(self, request: HttpRequest) -> HttpResponse:
        words = request.GET.get("q", "").strip()
        accounts = accounts_of(request.user).filter(name__icontains=words)[: _MAX_SHOWN + 1]
        sellers = sellers_of(request.user).filter(name__icontains=words)[: _MAX_SHOWN + 1]
        context = {
            "accounts": accounts[:_MAX_SHOWN],
            "sellers": sellers[:_MAX_SHOWN],
            "words": words,
            "has_search": bool(words) or len(accounts) + len(sellers) > _SEARCHED_FROM,
            "has_more": max(len(accounts), len(sellers)) > _MAX_SHOWN,
            "most": _MAX_SHOWN,
        }
        return render(request, "panel/home.html", context)

"""Where people land."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from access.rights import accounts_of, sellers_of
from panel.views.base import LoggedInView

# From so many on a search is worth its place; more than so many are not shown without one.
_FEW, _MOST = 10, 100


class Home(LoggedInView):
    """The accounts and sellers one may see."""

    def get(self, request: HttpRequest) -> HttpResponse:
        words = request.GET.get("q", "").strip()
        accounts = accounts_of(request.user).filter(name__icontains=words)[:_MOST]
        sellers = sellers_of(request.user).filter(name__icontains=words)[:_MOST]
        is_long = bool(words) or len(accounts) + len(sellers) > _FEW
        context = {"accounts": accounts, "sellers": sellers, "words": words, "is_long": is_long, "most": _MOST}
        return render(request, "panel/home.html", context)

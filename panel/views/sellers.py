"""Sellers of area B: their API keys and the quickstart."""

from cryptography.fernet import InvalidToken
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from common import credentials
from common.actors import actor
from integration.actions import keys
from integration.errors import TooManyKeys
from panel.ciphertexts import FRESH_KEY
from panel.views.base import SellerView


class Keys(SellerView):
    """The seller's keys. A key's text is known only at its issue; the one page after that shows it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        context = {
            "seller": self.seller,
            "keys": self.seller.keys.all(),
            "fresh": _fresh_key(request),
            "base": request.build_absolute_uri("/").rstrip("/"),
        }
        return render(request, "panel/seller.html", context)

    def post(self, request: HttpRequest) -> HttpResponse:
        try:
            issued = keys.issue(seller=self.seller, by=actor(request), at=timezone.now())
        except TooManyKeys:
            text = _("The seller has %(most)s valid keys, the most it may have; revoke one first.")
            messages.error(request, text % {"most": keys.MOST_VALID})
            return redirect("panel:seller", self.seller.pk)
        request.session[FRESH_KEY] = credentials.encrypt(issued.clear_text)
        return redirect("panel:seller", self.seller.pk)


def _fresh_key(request: HttpRequest) -> str | None:
    """The clear text of the key that the request before this one issued."""
    ciphertext = request.session.pop(FRESH_KEY, None)
    try:
        return credentials.decrypt(ciphertext) if ciphertext else None
    except InvalidToken:  # its encryption key was removed meanwhile
        messages.error(request, _("The new key cannot be shown any more. Revoke it and issue another one."))
        return None


class Revoke(SellerView):
    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        found = self.seller.keys.filter(pk=key).first()
        if found is None:
            raise Http404
        keys.revoke(key=found, by=actor(request), at=timezone.now())
        messages.success(request, _("%(key)s is revoked. It is refused from this moment on.") % {"key": found.hint})
        return redirect("panel:seller", self.seller.pk)


class Quickstart(SellerView):
    def get(self, request: HttpRequest) -> HttpResponse:
        context = {
            "seller": self.seller,
            "base": request.build_absolute_uri("/").rstrip("/"),
            "company": self.seller.companies.first(),
        }
        return render(request, "panel/seller_quickstart.html", context)

"""Sellers of area B: their API keys and how to begin."""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _

from integration.actions import keys
from panel.access import SellerView, actor


class Keys(SellerView):
    """The seller's keys. A key's text is known only at its issue, so the page that answers shows it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show()

    def post(self, request: HttpRequest) -> HttpResponse:
        issued = keys.issue(seller=self.seller, by=actor(request), at=timezone.now())
        return self.show(issued)

    def show(self, issued: keys.Issued | None = None) -> HttpResponse:
        context = {
            "seller": self.seller,
            "keys": self.seller.keys.all(),
            "issued": issued,
            "base": self.request.build_absolute_uri("/").rstrip("/"),
        }
        response = render(self.request, "panel/seller.html", context)
        response["Cache-Control"] = "no-store"
        return response


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

"""Bringing in a seller: one form that creates it with its companies and a key, and a sheet to hand over."""

from typing import Any

from django.contrib.auth.mixins import PermissionRequiredMixin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render

from access import invitations
from common import clock, credentials
from common.actors import actor
from integration.actions import keys, sellers
from panel import first_person
from panel.ciphertexts import FRESH_KEY
from panel.setup_forms import NewSellerForm
from panel.views.base import LoggedInView, SellerView
from panel.views.sellers import fresh_key


class NewSeller(LoggedInView, PermissionRequiredMixin):
    permission_required = "integration.add_seller"

    def get(self, request: HttpRequest) -> HttpResponse:
        return render(request, "panel/seller_new.html", {"form": NewSellerForm()})

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewSellerForm(request.POST)
        if not form.is_valid():
            return render(request, "panel/seller_new.html", {"form": form}, status=422)
        with transaction.atomic():
            seller = sellers.open_(name=form.cleaned_data["name"], documents=form.cleaned_data["documents"])
            issued = keys.issue(seller=seller, by=actor(request), at=clock.now())
        request.session[FRESH_KEY] = credentials.encrypt(issued.clear_text)
        first_person.invite(request, seller, form.cleaned_data["email"])
        return redirect("panel:seller_sheet", seller.pk)


class Sheet(SellerView):
    """The sheet to print and hand over. It shows a new key once."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.has_perm("integration.change_seller"):
            raise PermissionDenied
        return super().dispatch(request, *args, **kwargs)

    def get(self, request: HttpRequest) -> HttpResponse:
        context = {
            "seller": self.seller,
            "companies": self.seller.companies.all(),
            "fresh": fresh_key(request),
            "has_people": self.seller.members.exists() or invitations.pending(self.seller).exists(),
            "invitation_link": first_person.fresh_link(request),
            "base": request.build_absolute_uri("/").rstrip("/"),
            "at": clock.now(),
        }
        return render(request, "panel/seller_sheet.html", context)

"""Sellers of area B: bringing one in, its API keys, the quickstart and the sheet to hand over."""

from typing import Any

from cryptography.fernet import InvalidToken
from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from access import invitations
from common import clock, credentials
from common.actors import actor
from integration.actions import keys, sellers
from integration.errors import TooManyKeys
from integration.models import ApiKey
from panel.ciphertexts import FRESH_KEY
from panel.forms import CredentialNameForm, NewSellerForm
from panel.views.base import LoggedInView, SellerView
from panel.views.setup import fresh_link, invite


class Keys(SellerView):
    """The seller's keys. A key's text is known only at its issue; the one page after that shows it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(CredentialNameForm())

    def show(self, form: CredentialNameForm, *, status: int = 200) -> HttpResponse:
        context = {
            "seller": self.seller,
            "keys": self.seller.keys.all(),
            "fresh": fresh_key(self.request),
            "base": self.request.build_absolute_uri("/").rstrip("/"),
            "form": form,
        }
        return render(self.request, "panel/seller.html", context, status=status)

    def post(self, request: HttpRequest) -> HttpResponse:
        form = CredentialNameForm(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        name = form.cleaned_data["name"]
        try:
            issued = keys.issue(seller=self.seller, name=name, by=actor(request), at=clock.now())
        except TooManyKeys:
            text = _("The seller has %(most)s valid keys, the most it may have; revoke one first.")
            messages.error(request, text % {"most": keys.MOST_VALID})
            return redirect("panel:seller", self.seller.pk)
        request.session[FRESH_KEY] = credentials.encrypt(issued.clear_text)
        return redirect("panel:seller", self.seller.pk)


def fresh_key(request: HttpRequest) -> str | None:
    """The clear text of the key that the request before this one issued."""
    ciphertext = request.session.pop(FRESH_KEY, None)
    try:
        return credentials.decrypt(ciphertext) if ciphertext else None
    except InvalidToken:  # its encryption key was removed meanwhile
        messages.error(request, _("The new key cannot be shown any more. Revoke it and issue another one."))
        return None


class _OfKey(SellerView):
    def key_of(self, key: int) -> ApiKey:
        """One of this seller's. Raises Http404."""
        found = self.seller.keys.filter(pk=key).first()
        if found is None:
            raise Http404
        return found


class Rename(_OfKey):
    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        found, form = self.key_of(key), CredentialNameForm(request.POST)
        if form.is_valid():
            keys.rename(key=found, name=form.cleaned_data["name"], by=actor(request))
            messages.success(request, _("The name was saved."))
        else:
            messages.error(request, " ".join(str(each) for each in form.errors["name"]))
        return redirect("panel:seller", self.seller.pk)


class Revoke(_OfKey):
    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        found = self.key_of(key)
        keys.revoke(key=found, by=actor(request), at=clock.now())
        messages.success(request, _("%(key)s is revoked. It is refused from this moment on.") % {"key": found.title})
        return redirect("panel:seller", self.seller.pk)


class Quickstart(SellerView):
    def get(self, request: HttpRequest) -> HttpResponse:
        context = {
            "seller": self.seller,
            "base": request.build_absolute_uri("/").rstrip("/"),
            "company": self.seller.companies.first(),
        }
        return render(request, "panel/seller_quickstart.html", context)


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
        invite(request, seller, form.cleaned_data["email"])
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
            "invitation_link": fresh_link(request),
            "base": request.build_absolute_uri("/").rstrip("/"),
            "at": clock.now(),
        }
        return render(request, "panel/seller_sheet.html", context)

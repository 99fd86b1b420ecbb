"""Sellers of area B: bringing one in, its API keys, the quickstart and the sheet to hand over."""

from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from access import invitations
from common import clock, credentials
from common.actors import actor
from integration.actions import keys, sellers
from integration.errors import TooManyKeys
from panel.ciphertexts import FRESH_KEY
from panel.forms import CredentialNameForm, NewSellerForm
from panel.views.base import LoggedInView, SellerView, origin
from panel.views.setup import fresh_link, invite, shown_once


class Keys(SellerView):
    """The seller's keys. A key's text is known only at its issue; the one page after that shows it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(CredentialNameForm())

    def show(self, form: CredentialNameForm, *, status: int = 200) -> HttpResponse:
        return self.page(
            "panel/seller.html",
            status=status,
            keys=self.seller.keys.all(),
            fresh=_fresh_key(self.request),
            form=form,
        )

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
        else:
            request.session[FRESH_KEY] = credentials.encrypt(issued.clear_text)
        return redirect("panel:seller", self.seller.pk)


def _fresh_key(request: HttpRequest) -> str | None:
    """The clear text of the key that the request before this one issued."""
    gone = _("The new key cannot be shown any more. Revoke it and issue another one.")
    return shown_once(request, FRESH_KEY, gone=gone)


class Rename(SellerView):
    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        found, form = get_object_or_404(self.seller.keys, pk=key), CredentialNameForm(request.POST)
        if form.is_valid():
            keys.rename(key=found, name=form.cleaned_data["name"], by=actor(request))
            messages.success(request, _("The name was saved."))
        else:
            messages.error(request, " ".join(str(each) for each in form.errors["name"]))
        return redirect("panel:seller", self.seller.pk)


class Revoke(SellerView):
    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        found = get_object_or_404(self.seller.keys, pk=key)
        keys.revoke(key=found, by=actor(request), at=clock.now())
        messages.success(request, _("%(key)s is revoked. It is refused from this moment on.") % {"key": found.title})
        return redirect("panel:seller", self.seller.pk)


class Quickstart(SellerView):
    def get(self, request: HttpRequest) -> HttpResponse:
        company = self.seller.companies.first()
        return self.page("panel/seller_quickstart.html", base=origin(request), company=company)


class NewSeller(LoggedInView, PermissionRequiredMixin):
    permission_required = "integration.add_seller"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page("panel/seller_new.html", form=NewSellerForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewSellerForm(request.POST)
        if not form.is_valid():
            return self.page("panel/seller_new.html", status=422, form=form)
        with transaction.atomic():
            seller = sellers.open_(
                name=form.cleaned_data["name"],
                documents=form.cleaned_data["documents"],
                origin=form.cleaned_data["origin"],
            )
            issued = keys.issue(seller=seller, by=actor(request), at=clock.now())
        request.session[FRESH_KEY] = credentials.encrypt(issued.clear_text)
        invite(request, seller, form.cleaned_data["email"])
        return redirect("panel:seller_sheet", seller.pk)


class Sheet(PermissionRequiredMixin, SellerView):
    """The sheet to print and hand over. It shows a new key once. For staff, not for the seller's members."""

    permission_required = "integration.change_seller"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.page(
            "panel/seller_sheet.html",
            companies=self.seller.companies.all(),
            fresh=_fresh_key(request),
            has_people=self.seller.members.exists() or invitations.pending(self.seller).exists(),
            invitation_link=fresh_link(request),
            base=origin(request),
            at=clock.now(),
        )

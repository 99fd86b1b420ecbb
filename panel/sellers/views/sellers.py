"""Sellers of area B: bringing one in, its API keys, e-mails to receivers and the sheet to hand over."""

from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from access import access_links, invitations, teams
from access.ciphertexts import FRESH_KEY
from common import clock
from common.accounts import Environment
from common.actors import actor
from integration.accounts import keys, sellers
from integration.errors import TooManyKeys
from integration.models import ApiKey, Seller
from panel.base import LoggedInView, SellerView, origin, user_of
from panel.forms import CredentialNameForm, NewSellerForm
from panel.hand_over import fresh_link, invite, show_next, shown_once


class KeysView(SellerView):
    """Base of the pages of keys."""

    @property
    def keys(self) -> QuerySet[ApiKey]:
        """The seller's in this environment."""
        return self.seller.keys.filter(environment=self.environment)


class Keys(KeysView):
    """The seller's keys. A key's text is known only at its issue; the one page after that shows it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(CredentialNameForm())

    def show(self, form: CredentialNameForm, *, status: int = 200) -> HttpResponse:
        return self.page(
            "panel/seller.html",
            status=status,
            keys=self.keys,
            fresh=_fresh_keys(self.request, self.seller).get(self.environment),
            form=form,
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        form = CredentialNameForm(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        _issue(request, self.seller, self.environment, name=form.cleaned_data["name"])
        return redirect(self.url("seller"))


def _issue(request: HttpRequest, seller: Seller, *environments: Environment, name: str = "") -> None:
    """Issue a key of each environment, which the next page shows, or say why not."""
    by, at = actor(request), clock.now()
    try:
        with transaction.atomic():
            issued = [keys.issue(seller=seller, environment=each, name=name, by=by, at=at) for each in environments]
    except TooManyKeys:
        text = _("The seller has %(most)s valid keys, the most it may have; revoke one first.")
        messages.error(request, text % {"most": keys.MOST_VALID})
    else:
        show_next(request, FRESH_KEY, seller, "\n".join(each.clear_text for each in issued))


def _fresh_keys(request: HttpRequest, seller: Seller) -> dict[Environment, str]:
    """The clear texts of the keys that the request before this one issued, by their environments."""
    gone = _("The new key cannot be shown any more. Revoke it and issue another one.")
    texts = (shown_once(request, FRESH_KEY, seller, gone=gone) or "").split()
    return {keys.environment_of(text): text for text in texts}


class Rename(KeysView):
    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        found, form = get_object_or_404(self.keys, pk=key), CredentialNameForm(request.POST)
        if form.is_valid():
            keys.rename(key=found, name=form.cleaned_data["name"], by=actor(request))
            messages.success(request, _("The name was saved."))
        else:
            messages.error(request, " ".join(str(each) for each in form.errors["name"]))
        return redirect(self.url("seller"))


class Revoke(KeysView):
    def post(self, request: HttpRequest, key: int) -> HttpResponse:
        found = get_object_or_404(self.keys, pk=key)
        keys.revoke(key=found, by=actor(request), at=clock.now())
        messages.success(request, _("%(key)s is revoked. It is refused from this moment on.") % {"key": found.title})
        return redirect(self.url("seller"))


class ReceiverMails(SellerView):
    """Whether receivers get e-mails, which the seller's owners decide on the page of its team."""

    def post(self, request: HttpRequest) -> HttpResponse:
        if not teams.may_manage(user_of(request), self.seller):
            raise PermissionDenied
        self.seller.check_active()
        are_on = request.POST.get("mails") == "on"
        sellers.set_receiver_mails(seller=self.seller, are_on=are_on, by=actor(request), at=clock.now())
        text = _("E-mails to receivers are switched on.") if are_on else _("E-mails to receivers are switched off.")
        messages.success(request, text)
        return redirect(self.url("seller_team"))


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
            _issue(request, seller, *Environment)
        invite(request, seller, form.cleaned_data["email"])
        return redirect("panel:seller_sheet", seller.pk, Environment.SANDBOX)


class Sheet(PermissionRequiredMixin, SellerView):
    """The sheet to print and hand over. It shows a new key once. For staff, not for the seller's members."""

    permission_required = "integration.change_seller"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    def post(self, request: HttpRequest) -> HttpResponse:
        """Another key in place of one that was lost, or a link that issues one."""
        if request.POST.get("step") == "link":
            link = access_links.issue(account=self.seller, by=actor(request), at=clock.now())
            return self._show(access_link=request.build_absolute_uri(link))
        again = request.POST.get("again", "")
        if again in Environment.values:
            _issue(request, self.seller, Environment(again))
        return redirect(self.url("seller_sheet"))

    def _show(self, *, access_link: str = "") -> HttpResponse:
        request = self.request
        return self.page(
            "panel/seller_sheet.html",
            access_link=access_link,
            companies=self.seller.companies.all(),
            key_parts=access_links.key_parts(_fresh_keys(request, self.seller)),
            has_people=self.seller.members.exists() or invitations.pending(self.seller).exists(),
            invitation_link=fresh_link(request, self.seller),
            base=origin(request),
            at=clock.now(),
        )

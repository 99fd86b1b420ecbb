"""Bearer tokens: issue, show, rotate, revoke. The clear text is shown once, on the page after the issue."""

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from delivery import models
from delivery.accounts import tokens
from delivery.errors import TokenEnded, TooManyTokens
from delivery.models import parse_id
from delivery.refusals import refusal
from panel.base import AccountView
from panel.filters import TokenFilter, numbered, or_long_ago
from panel.forms import CredentialNameForm

# Session key of the id of a new token, until the next page has shown its clear text.
_ISSUED = "issued_token"


class TokensView(AccountView):
    """Base of the pages of tokens."""

    def token_of(self, key: UUID) -> models.Token:
        """One of this account's in this environment. Raises Http404."""
        return get_object_or_404(self.account.tokens, pk=key, environment=self.environment)

    def show_once(self, token: models.Token) -> HttpResponse:
        self.request.session[_ISSUED] = str(token.pk)
        return redirect(self.url("tokens"))


class Tokens(TokensView):
    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(CredentialNameForm())

    def show(self, form: CredentialNameForm, *, status: int = 200) -> HttpResponse:
        fresh = parse_id(self.request.session.pop(_ISSUED, ""))
        found = self.account.tokens.filter(environment=self.environment)
        listed = numbered(TokenFilter, self.request.GET, found.annotate(used_at=or_long_ago("last_used_at")))
        now = clock.now()
        for token in listed["rows"]:
            token.is_in_force = token.is_valid(at=now)
        return self.page(
            "panel/tokens.html",
            fresh=found.filter(pk=fresh).first() if fresh else None,
            form=form,
            status=status,
            **listed,
        )

    def post(self, request: HttpRequest) -> HttpResponse:
        if not self.may_request:  # with a token they could request deliveries
            raise PermissionDenied
        form = CredentialNameForm(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        name, by = form.cleaned_data["name"], actor(request)
        try:
            token = tokens.issue(
                integrator=self.account, environment=self.environment, name=name, by=by, at=clock.now()
            )
        except TooManyTokens as error:
            messages.error(request, refusal(error))
            return redirect(self.url("tokens"))
        return self.show_once(token)


class Token(TokensView):
    """One token: who issued it, its last use and its end."""

    def get(self, request: HttpRequest, token: UUID) -> HttpResponse:
        found = self.token_of(token)
        return self.show(found, CredentialNameForm({"name": found.name}))

    def post(self, request: HttpRequest, token: UUID) -> HttpResponse:
        """Rename the token."""
        if not self.may_request:
            raise PermissionDenied
        found = self.token_of(token)
        form = CredentialNameForm(request.POST)
        if not form.is_valid():
            return self.show(found, form, status=422)
        tokens.rename(token=found, name=form.cleaned_data["name"], by=actor(request), at=clock.now())
        messages.success(request, _("The name was saved."))
        return redirect(self.url("token", found.pk))

    def show(self, token: models.Token, form: CredentialNameForm, *, status: int = 200) -> HttpResponse:
        is_valid = token.is_valid(at=clock.now())
        return self.page(
            "panel/token.html", token=token, is_valid=is_valid, overlap=tokens.OVERLAP, form=form, status=status
        )


class ChangeView(TokensView):
    """Base class of the views that replace or end a token. 403 for members who may not request deliveries."""

    def may_open(self) -> bool:
        return self.may_request


class Rotate(ChangeView):
    def post(self, request: HttpRequest, token: UUID) -> HttpResponse:
        found = self.token_of(token)
        try:
            issued = tokens.rotate(token=found, by=actor(request), at=clock.now())
        except (TokenEnded, TooManyTokens) as error:
            messages.error(request, refusal(error))
            return redirect(self.url("token", found.pk))
        return self.show_once(issued)


class Revoke(ChangeView):
    def post(self, request: HttpRequest, token: UUID) -> HttpResponse:
        found = self.token_of(token)
        tokens.revoke(token=found, by=actor(request), at=clock.now())
        messages.success(
            request, _("%(token)s is revoked. It is refused from this moment on.") % {"token": found.title}
        )
        return redirect(self.url("tokens"))

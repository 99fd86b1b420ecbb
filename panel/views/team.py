"""The people of an account or a seller, and their invitations. Members look, owners and account staff change."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Value
from django.db.models.functions import Coalesce, Concat, Lower, NullIf, Trim
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from access import invitations, teams
from access.models import Invitation
from access.rights import Account
from access.teams import NotAMember, TeamRefusal
from common import clock
from common.accounts import Role
from common.mail import outbox
from delivery.models import Integrator
from panel.base import AccountView, LoggedInView, SellerView, page_language, user_of
from panel.filters import PeopleFilter, numbered, or_long_ago
from panel.forms import InvitationForm

# The name that the list shows: as people wrote it, or that of the log-in.
_CALLED = Coalesce(NullIf(Trim(Concat("user__first_name", Value(" "), "user__last_name")), Value("")), "user__username")


class _Team(LoggedInView):
    """Base of the views of a team. Subclasses say whose team it is."""

    @property
    def owner(self) -> Account:
        raise NotImplementedError

    def team_url(self) -> str:
        raise NotImplementedError

    def show(self, form: InvitationForm, *, status: int = 200, **more: Any) -> HttpResponse:
        now = clock.now()
        people = teams.people(self.owner).annotate(called=Lower(_CALLED), seen_at=or_long_ago("user__last_login"))
        owners = self.owner.memberships.filter(role=Role.OWNER).values_list("pk", flat=True)[:2]
        pending = list(invitations.pending(self.owner))
        sent = invitations.messages_of(pending)
        return self.page(
            "panel/team.html",
            status=status,
            form=form,
            team=self.owner,
            base=self.team_url(),
            last_owner=owners[0] if len(owners) == 1 else None,
            may_remove_last=teams.may_remove_last(self.request.user, self.owner),
            invitations=[(each, each.state(at=now), sent.get(each)) for each in pending],
            may_manage=teams.may_manage(self.request.user, self.owner),
            has_mail_server=outbox.is_configured(),
            roles=Role.choices,
            **numbered(PeopleFilter, self.request.GET, people),
            **more,
        )

    def issued(self, issued: invitations.Issued) -> HttpResponse:
        """Say that the link was sent, or show it where there is no mail server."""
        invitation = issued.invitation
        if invitation.is_mailed:
            messages.success(
                self.request, _("The invitation is on its way to %(email)s.") % {"email": invitation.email}
            )
            return redirect(self.team_url())
        link = self.request.build_absolute_uri(issued.path)
        return self.show(InvitationForm(), link=link, invited=invitation.email)


class TeamPage(_Team):
    """The list, and inviting somebody."""

    def get(self, request: HttpRequest) -> HttpResponse:
        first = not teams.people(self.owner).exists()
        return self.show(InvitationForm(initial={"role": Role.OWNER} if first else None))

    def post(self, request: HttpRequest) -> HttpResponse:
        if not teams.may_manage(request.user, self.owner):
            raise PermissionDenied
        form = InvitationForm(request.POST)
        if not form.is_valid():
            return self.show(form, status=422)
        try:
            issued = invitations.invite(
                account=self.owner,
                email=form.cleaned_data["email"],
                role=Role(form.cleaned_data["role"]),
                by=user_of(request),
                language=page_language(),
                at=clock.now(),
            )
        except (ValidationError, TeamRefusal) as error:
            form.add_error("email", error if isinstance(error, ValidationError) else str(error))
            return self.show(form, status=422)
        return self.issued(issued)


class TeamChange(_Team):
    """One change of a membership or an invitation."""

    def post(self, request: HttpRequest, change: str, **row: int) -> HttpResponse:
        if not teams.may_manage(request.user, self.owner):
            raise PermissionDenied
        make = _CHANGES.get((next(iter(row)), change))
        if make is None:
            raise Http404
        try:
            return make(self, *row.values())
        except (NotAMember, Invitation.DoesNotExist):
            messages.info(request, _("This has changed meanwhile. The list is up to date now."))
        except TeamRefusal as error:
            messages.error(request, str(error))
        return redirect(self.team_url())

    def resend(self, invitation: int) -> HttpResponse:
        found = invitations.resend(
            account=self.owner,
            invitation=invitation,
            by=user_of(self.request),
            language=page_language(),
            at=clock.now(),
        )
        return self.issued(found)

    def revoke(self, invitation: int) -> HttpResponse:
        found = invitations.revoke(account=self.owner, invitation=invitation, by=user_of(self.request), at=clock.now())
        messages.success(self.request, _("The invitation of %(email)s is revoked.") % {"email": found.email})
        return redirect(self.team_url())

    def set_role(self, membership: int, role: Role) -> HttpResponse:
        changed = teams.change_role(
            account=self.owner, membership=membership, role=role, by=user_of(self.request), at=clock.now()
        )
        text = _("%(name)s is now: %(role)s.") % {"name": changed.user, "role": changed.get_role_display()}
        messages.success(self.request, text)
        return redirect(self.team_url())

    def set_right(self, membership: int, *, may_request: bool) -> HttpResponse:
        if not isinstance(self.owner, Integrator):
            raise Http404
        changed = teams.change_right(
            account=self.owner, membership=membership, may_request=may_request, by=user_of(self.request), at=clock.now()
        )
        may, may_not = _("%(name)s may now request deliveries."), _("%(name)s may no longer request deliveries.")
        messages.success(self.request, (may if may_request else may_not) % {"name": changed.user})
        return redirect(self.team_url())

    def remove(self, membership: int) -> HttpResponse:
        removed = teams.remove(account=self.owner, membership=membership, by=user_of(self.request), at=clock.now())
        messages.success(self.request, _("%(name)s is removed, and sees nothing more.") % {"name": removed.user})
        is_own = removed.user_id == self.request.user.pk
        return redirect("panel:home" if is_own else self.team_url())


# By the argument of the URL that names the row, and the change.
_CHANGES: dict[tuple[str, str], Callable[..., HttpResponse]] = {
    ("invitation", "resend"): TeamChange.resend,
    ("invitation", "revoke"): TeamChange.revoke,
    ("membership", "make-owner"): lambda view, row: view.set_role(row, Role.OWNER),
    ("membership", "make-member"): lambda view, row: view.set_role(row, Role.MEMBER),
    ("membership", "allow-requests"): lambda view, row: view.set_right(row, may_request=True),
    ("membership", "end-requests"): lambda view, row: view.set_right(row, may_request=False),
    ("membership", "remove"): TeamChange.remove,
}


class _OfAccount(AccountView, _Team):
    @property
    def owner(self) -> Account:
        return self.account

    def team_url(self) -> str:
        return self.url("team")


class _OfSeller(SellerView, _Team):
    @property
    def owner(self) -> Account:
        return self.seller

    def team_url(self) -> str:
        return self.url("seller_team")


class AccountTeam(_OfAccount, TeamPage):
    """Of an integrator."""


class AccountChange(_OfAccount, TeamChange):
    """Of an integrator."""


class SellerTeam(_OfSeller, TeamPage):
    """Of a seller."""


class SellerChange(_OfSeller, TeamChange):
    """Of a seller."""

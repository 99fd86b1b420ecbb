"""The pickup points of an account: its members register, rename, move and deactivate them, staff approve them."""

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _

from access import teams
from common import clock
from delivery.accounts import pickup_points
from delivery.errors import PointChanged, TooManyPickupPoints
from delivery.geo.distance import Point
from delivery.models import PickupPoint
from delivery.places import addresses
from delivery.refusals import refusal
from panel.base import RequestingView, user_of
from panel.filters import PickupPointFilter, numbered
from panel.forms import PickupPointForm, PolicyForm
from panel.integrators.delivery_forms import check_served

_CHANGES = ("approve", "activate", "deactivate", "remove")


class _Points(RequestingView):
    def found(self, pickup: UUID) -> PickupPoint:
        return get_object_or_404(self.account.pickup_points.select_related("integrator"), pk=pickup)

    @property
    def policy_form(self) -> PolicyForm | None:
        """The form with the policy of failures, for those who decide it."""
        may_decide = teams.may_manage(user_of(self.request), self.account)
        return PolicyForm(initial={"on_failure": self.account.on_failure}) if may_decide else None

    def checked(self) -> PickupPointForm:
        """The form that was sent, with an error for a place outside the service area."""
        form = PickupPointForm(self.request.POST)
        if form.is_valid():
            try:
                check_served(form.cleaned_data["position"])
            except ValidationError as error:
                form.add_error("position", error)
        return form

    def saved(self, point: PickupPoint) -> HttpResponse:
        text = _("%(name)s is saved.") % {"name": point.name}
        if point.awaits_approval:
            text += " " + _("Deliveries start there when it has been approved.")
        messages.success(self.request, text)
        return redirect(self.url("pickup_points"))

    def show(self, form: PickupPointForm, *, status: int = 200, point: PickupPoint | None = None) -> HttpResponse:
        """The list with the form of a new one, or the page of one."""
        if point:
            template, listed = "panel/pickup_point.html", {}
        else:
            template = "panel/pickup_points.html"
            listed = numbered(PickupPointFilter, self.request.GET, self.account.pickup_points.all())
        return self.page(
            template,
            status=status,
            form=form,
            point=point,
            **listed,
            is_staff=self.is_staff,
            policy_form=self.policy_form,
            has_geocoder=addresses.can_locate(),
        )


class PickupPoints(_Points):
    """The list, and registering one."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(PickupPointForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = self.checked()
        if not form.is_valid():
            return self.show(form, status=422)
        try:
            added = pickup_points.add(
                integrator=self.account,
                name=form.cleaned_data["name"],
                point=form.cleaned_data["position"],
                by_staff=self.is_staff,
                by=self.actor,
                at=clock.now(),
            )
        except TooManyPickupPoints as error:
            form.add_error(None, refusal(error))
            return self.show(form, status=422)
        return self.saved(added)


class PickupPointPage(_Points):
    """One pickup point: its name and its place."""

    def get(self, request: HttpRequest, pickup: UUID) -> HttpResponse:
        found = self.found(pickup)
        position = f"{found.latitude:.6f}, {found.longitude:.6f}"
        return self.show(PickupPointForm(initial={"name": found.name, "position": position}), point=found)

    def post(self, request: HttpRequest, pickup: UUID) -> HttpResponse:
        found, form = self.found(pickup), self.checked()
        if not form.is_valid():
            return self.show(form, status=422, point=found)
        changed = pickup_points.change(
            pickup=found,
            name=form.cleaned_data["name"],
            point=form.cleaned_data["position"],
            by_staff=self.is_staff,
            by=self.actor,
            at=clock.now(),
        )
        return self.saved(changed)


class Change(_Points):
    """Approving, activating, deactivating and removing a pickup point."""

    def post(self, request: HttpRequest, pickup: UUID, change: str) -> HttpResponse:
        if change not in _CHANGES:
            raise Http404
        if change in {"approve", "remove"} and not self.is_staff:
            raise PermissionDenied
        found, by, at = self.found(pickup), self.actor, clock.now()
        try:
            if change == "approve":
                found.latitude, found.longitude = _seen(request)
                pickup_points.approve(pickup=found, by=by, at=at)
                messages.success(request, _("%(name)s is approved.") % {"name": found.name})
            elif change == "activate":
                return self.saved(pickup_points.activate(pickup=found, by_staff=self.is_staff, by=by, at=at))
            elif change == "deactivate":
                pickup_points.deactivate(pickup=found, by=by, at=at)
                messages.success(request, _("No delivery starts at %(name)s any more.") % {"name": found.name})
            else:
                pickup_points.remove(pickup=found, by=by, at=at)
                messages.success(request, _("%(name)s is removed.") % {"name": found.name})
        except PointChanged as error:
            messages.error(request, refusal(error))
        return redirect(self.url("pickup_points"))


def _seen(request: HttpRequest) -> Point:
    """The place that the person who approves has seen. Raises PointChanged if none was sent."""
    try:
        return Point(float(request.POST["latitude"][:30]), float(request.POST["longitude"][:30]))
    except (KeyError, ValueError) as error:
        raise PointChanged from error

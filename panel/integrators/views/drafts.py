"""The orders of connected shops: what is missing of each, its price, and the request of its delivery."""

from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common import clock
from common.api.heavy import heavy
from delivery.connections import drafts, words
from delivery.connections.models import Draft
from delivery.errors import DeliveryError, DraftChanged, DraftEnded
from delivery.places import addresses
from delivery.refusals import refusal
from panel.base import RequestingView
from panel.filters import DraftFilter, listed
from panel.integrators.shop_forms import FIXED_AT, ShopOrderForm, initial_of
from panel.shop_pages import chosen, keep_shown, renewed, seen


class DraftView(RequestingView):
    """Base of the pages of orders of shops."""

    @property
    def rows(self) -> Any:
        return Draft.objects.filter(integrator=self.account, environment=self.environment)

    @property
    def whole(self) -> Any:
        return self.rows.select_related("connection__integrator", "connection__pickup", "delivery")

    def found(self, key: UUID) -> Draft:
        found: Draft = get_object_or_404(self.whole, pk=key)
        return found

    def back(self, draft: Draft) -> HttpResponse:
        return redirect(self.url("draft", draft.pk))


class Drafts(DraftView):
    """The list, and the request of several."""

    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(DraftFilter, request.GET, self.rows)
        whole = self.whole.in_bulk([row.pk for row in shown["rows"]])
        shown["rows"] = [whole[row.pk] for row in shown["rows"] if row.pk in whole]
        return self.page("panel/drafts.html", **shown)

    @heavy
    def post(self, request: HttpRequest) -> HttpResponse:
        revisions = chosen(request)
        requested, refused = 0, list[str]()
        for draft in self.whole.filter(pk__in=revisions).order_by("created_at"):
            try:
                _delivery, is_earlier = drafts.request(
                    draft=draft, seen=revisions[draft.pk], by=self.actor, at=clock.now()
                )
            except DeliveryError as error:
                refused.append(f"{draft.external_id}: {refusal(error)}")
            else:
                requested += not is_earlier
        if requested:
            text = ngettext("%(count)s delivery is requested.", "%(count)s deliveries are requested.", requested)
            messages.success(request, text % {"count": requested})
        for text in refused[:5]:
            messages.error(request, text)
        if not revisions:
            messages.info(request, _("Choose the orders first."))
        return redirect(self.url("drafts"))


class DraftPage(DraftView):
    """One order: what is missing, the price, and its drop-off to be corrected."""

    def get(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        found = self.found(shop_order)
        return self.show(found, self.form(found), seen=found.revision)

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        self.account.check_active()
        found = self.found(shop_order)
        form = self.form(found, request.POST)
        # That of which the form was filled. What the shop has changed since is not in it.
        revision = seen(request.POST.get("seen", ""))
        if not found.payload or not form.is_valid():
            if found.is_open and revision != found.revision:
                return self.show_changed(found, form)
            return self.show(found, form, seen=revision, status=422)
        dropoff = form.dropoff(found.dropoff)
        try:
            drafts.edit(draft=found, seen=revision, dropoff=dropoff, by=self.actor, at=clock.now())
        except DraftEnded as error:
            messages.error(request, refusal(error))
            return self.back(found)
        except DraftChanged:
            return self.show_changed(self.found(shop_order), form)
        drafts.check(self.found(shop_order))  # its price is shown at once
        messages.success(request, _("The order is saved."))
        return self.back(found)

    def show_changed(self, draft: Draft, typed: ShopOrderForm) -> HttpResponse:
        form = renewed(self.request, typed, partial(self.form, draft))
        return self.show(draft, form, seen=draft.revision, status=422)

    def form(self, draft: Draft, data: Mapping[str, Any] | None = None) -> ShopOrderForm:
        form = ShopOrderForm(data, prefix="b", initial=initial_of(draft.dropoff))
        keep_shown(form)
        return form

    def show(self, draft: Draft, form: ShopOrderForm, *, seen: int, status: int = 200) -> HttpResponse:
        return self.page(
            "panel/draft.html",
            status=status,
            in_zone_of=draft.connection.pickup,
            draft=draft,
            form=form,
            seen=seen,
            missing=[(words.missing(code), self.fixed_at(draft).get(code, "")) for code in draft.missing],
            has_geocoder=addresses.can_locate(),
        )

    def fixed_at(self, draft: Draft) -> Mapping[str, str]:
        """Where people put right what is missing, by its code: a field of the form, or one of the connection."""
        if self.account.is_suspended:  # then there is no form
            return {}
        connection = self.url("connection", draft.connection_id)
        return FIXED_AT if draft.connection.removed_at else {**FIXED_AT, "pickup_not_linked": f"{connection}#id_pickup"}


class Request(DraftView):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        found, revision = self.found(shop_order), seen(request.POST.get("seen", ""))
        try:
            delivery, is_earlier = drafts.request(draft=found, seen=revision, by=self.actor, at=clock.now())
        except DeliveryError as error:
            messages.error(request, refusal(error))
            return self.back(found)
        text = _("The delivery had been requested already.") if is_earlier else _("The delivery is requested.")
        messages.success(request, text)
        return redirect(self.url("delivery", delivery.pk))


class Drop(DraftView):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        found = self.found(shop_order)
        try:
            drafts.drop(draft=found, by=self.actor, at=clock.now())
        except DraftEnded as error:
            messages.error(request, refusal(error))
            return self.back(found)
        messages.success(request, _("Order %(order)s is dropped.") % {"order": found.external_id})
        return redirect(self.url("drafts"))


class TakeBack(DraftView):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        found = self.found(shop_order)
        try:
            drafts.take_back(draft=found, by=self.actor, at=clock.now())
        except DraftEnded as error:
            messages.error(request, refusal(error))
        return self.back(found)

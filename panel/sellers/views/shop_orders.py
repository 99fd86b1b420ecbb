"""The orders of a seller's connected shops: what is missing of each, and the order that is made of it."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from common import clock
from common.actors import actor
from common.api.heavy import heavy
from integration.actions.orders import Freight
from integration.connections import drafts, payloads, words
from integration.connections.models import Draft
from integration.errors import DraftChanged, DraftEnded, DraftIncomplete, FreightChanged, IntegrationError
from integration.freight.calculation import Price
from panel.base import SellerView
from panel.filters import DraftFilter, listed
from panel.sellers import order_forms
from panel.sellers.order_forms import OrderForm
from panel.sellers.order_pages import FormView, NewView
from panel.sellers.shop_forms import FIXED_AT
from panel.shop_pages import chosen, keep_shown, renewed, seen


class DraftView(SellerView):
    """Base of the pages of orders of shops."""

    @property
    def rows(self) -> Any:
        return Draft.objects.filter(seller=self.seller, environment=self.environment)

    @property
    def whole(self) -> Any:
        return self.rows.select_related("connection__seller", "connection__company", "made")

    def found(self, key: UUID) -> Draft:
        found: Draft = get_object_or_404(self.whole, pk=key)
        return found

    def back(self, draft: Draft) -> HttpResponse:
        return redirect(self.url("seller_draft", draft.pk))


class Drafts(DraftView):
    """The list, and making several."""

    def get(self, request: HttpRequest) -> HttpResponse:
        shown = listed(DraftFilter, request.GET, self.rows)
        whole = self.whole.in_bulk([row.pk for row in shown["rows"]])
        shown["rows"] = [whole[row.pk] for row in shown["rows"] if row.pk in whole]
        return self.page("panel/seller_drafts.html", **shown)

    @heavy
    def post(self, request: HttpRequest) -> HttpResponse:
        self.seller.check_active()
        revisions = chosen(request)
        made, refused = 0, list[str]()
        for draft in self.whole.filter(pk__in=revisions).order_by("created_at"):
            try:
                _order, is_earlier = drafts.make(
                    draft=draft,
                    seen=revisions[draft.pk],
                    by=actor(request),
                    at=clock.now(),
                    on_freight=_as_shown(draft.price),
                )
            except IntegrationError as error:
                if isinstance(error, FreightChanged):
                    drafts.look_again(draft=draft, at=clock.now())
                refused.append(f"{draft.external_id}: {order_forms.refusal(error)}")
            else:
                made += not is_earlier
        if made:
            text = ngettext("%(count)s order is created.", "%(count)s orders are created.", made)
            messages.success(request, text % {"count": made})
        for text in refused[:5]:
            messages.error(request, text)
        if not revisions:
            messages.info(request, _("Choose the orders first."))
        return redirect(self.url("seller_drafts"))


def _as_shown(price: Decimal | None) -> Callable[[Freight], None]:
    """What raises FreightChanged for another freight than the list has shown."""

    def check(freight: Freight) -> None:
        if (freight.reais if isinstance(freight, Price) else None) != price:
            raise FreightChanged

    return check


class _FormView(DraftView, NewView):
    draft: Draft

    def form(self, data: Mapping[str, Any] | None = None) -> OrderForm:
        companies = list(self.seller.companies.order_by("pk"))
        start = payloads.new_order(self.draft.payload)
        form = OrderForm(data, companies=companies, environment=self.environment, start=start)
        for part in form.parts:
            keep_shown(part)
        return form

    def show(self, form: OrderForm | None, *, status: int = 200, **context: Any) -> HttpResponse:
        return self.page(
            "panel/seller_draft.html",
            status=status,
            in_zone_of=self.seller,
            draft=self.draft,
            form=form,
            missing=[(words.missing(code), FIXED_AT.get(code, "") if form else "") for code in self.draft.missing],
            has_errors=form is not None and form.has_errors(),
            **context,
        )


class DraftPage(_FormView):
    """One order: what is missing, and the form of the order that is made of it."""

    def get(self, _request: HttpRequest, shop_order: UUID) -> HttpResponse:
        self.draft = found = self.found(shop_order)
        form = self.form() if found.can_be_made and not self.seller.is_suspended else None
        return self.show(form, seen=found.revision)

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        self.seller.check_active()
        self.draft = found = self.found(shop_order)
        if found.made:
            return self.see(found.made, is_earlier=True)
        if not found.can_be_made:
            messages.error(request, order_forms.refusal(DraftEnded() if not found.is_open else DraftIncomplete()))
            return self.back(found)
        # That of which the form was filled. What the shop has changed since is not in it.
        revision = seen(request.POST.get("seen", ""))
        if revision != found.revision:
            return self.show_changed()
        form = self.form(request.POST)
        holder = self.refuse_taken(form) if form.is_valid() else None
        if form.has_errors():
            return self.show(form, seen=revision, status=422, **self.freight(form), holder=holder)
        if request.POST.get("step") != "save":
            return self.show(form, seen=revision, **self.freight(form))
        return self.make(form, revision)

    def make(self, form: OrderForm, revision: int) -> HttpResponse:
        request = self.request
        try:
            made, is_earlier = drafts.make(
                draft=self.draft,
                payload=form.payload,
                seen=revision,
                on_freight=order_forms.as_agreed(request.POST.get("agreed", "")),
                by=actor(request),
                at=clock.now(),
            )
        except DraftEnded as error:
            messages.error(request, order_forms.refusal(error))
            return self.back(self.draft)
        except DraftChanged:
            self.draft = self.found(self.draft.pk)
            return self.show_changed()
        except IntegrationError as error:
            messages.warning(request, order_forms.refusal(error))
            return self.show(form, seen=revision, status=422, **self.freight(form))
        return self.see(made, is_earlier=is_earlier)

    def show_changed(self) -> HttpResponse:
        # Made without the order, so that it has items also if the order now has more than a form shows.
        typed = FormView.form(self, self.request.POST)
        form = renewed(self.request, typed, self.form)
        return self.show(form, seen=self.draft.revision, status=422, **self.freight(form))


class DraftFreight(_FormView):
    """A fragment: the freight of what the form has now."""

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        self.draft = found = self.found(shop_order)
        if not found.payload:
            return self.back(found)
        form = self.form(request.POST)
        if form.has_freight():
            self.refuse_taken(form)
        return self.show_freight(form)


class Drop(DraftView):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        found = self.found(shop_order)
        try:
            drafts.drop(draft=found, by=actor(request), at=clock.now())
        except DraftEnded as error:
            messages.error(request, order_forms.refusal(error))
            return self.back(found)
        messages.success(request, _("Order %(order)s is dropped.") % {"order": found.external_id})
        return redirect(self.url("seller_drafts"))


class TakeBack(DraftView):
    http_method_names = ["post"]

    def post(self, request: HttpRequest, shop_order: UUID) -> HttpResponse:
        found = self.found(shop_order)
        try:
            drafts.take_back(draft=found, by=actor(request), at=clock.now())
        except DraftEnded as error:
            messages.error(request, order_forms.refusal(error))
        return self.back(found)

"""Query parameters of the lists of area B."""

from typing import Any

from django import forms
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import QuerySet

from common.api.pagination import (
    CREATED_FROM,
    CREATED_TO,
    MOST_ROWS,
    UPDATED_FROM,
    FeedFilter,
    ListFilter,
    ManyFilter,
    MomentFilter,
    QueryForm,
    TextFilter,
)
from common.fields import any_of
from integration.lifecycle import Status
from integration.models import Company, Order, SearchCode
from integration.models.order import SearchCodeQuerySet
from integration.models.seller import compact_document, is_document

_STATUSES = [status.value for status in Status]
_ALIKE = "If none is exactly so, those that are without regard to case, spaces, dots and dashes."


_MOST_ORDERS = 1000  # of those whose orderIds are alike
_COMMAS = "One that holds commas itself is found too."


class PortugueseForm(QueryForm):
    messages = {
        "blank": "Omita o parâmetro ou dê um valor a ele.",
        "repeated": "Informe o parâmetro uma só vez.",
        "invalid_limit": f"Deve ser um número inteiro de 1 a {MOST_ROWS}.",
        "invalid_moment": (
            "Deve ser uma data ou um instante em ISO 8601, como 2026-11-20 ou 2026-11-20T10:00:00-03:00. Codifique o "
            "+ do fuso na URL."
        ),
        "reversed": "Fica antes de createdFrom.",
        "invalid_document": "Deve ser um CNPJ ou um CPF, com os dígitos verificadores certos.",
        "invalid_access_key": "Deve ter os 44 dígitos e letras de uma chave de acesso.",
        "too_many": "No máximo {most} valores.",
        "max_length": "No máximo 255 caracteres.",
        "null_characters_not_allowed": "Contém um caractere não aceito (U+0000).",
    }


class _DocumentField(forms.CharField):
    """A CNPJ or CPF, as it is stored."""

    def clean(self, value: Any) -> str:
        text = compact_document(super().clean(value))
        if text and not is_document(text):
            raise forms.ValidationError(self.error_messages["invalid_document"], code="invalid_document")
        return text


class DocumentFilter(TextFilter):
    field_class = _DocumentField


class OrderFilter(ListFilter):
    orderId = ManyFilter(method="of_order", help_text=f"The orderIds. {_COMMAS} {_ALIKE}")
    trackingCode = TextFilter(method="of_tracking_code", help_text=f"The tracking code. {_ALIKE}")
    company = DocumentFilter(method="of_company", help_text="The CNPJ or CPF of the company that sends.")
    status = ManyFilter(
        is_each=True,
        help_text="The status of the order, or several.",
        choices=_STATUSES,
        error_messages={"invalid_choice": f"Deve ser um destes: {', '.join(_STATUSES)}."},
    )
    createdFrom = MomentFilter("created_at", "gte", help_text=CREATED_FROM)
    createdTo = MomentFilter("created_at", "lt", is_end=True, help_text=CREATED_TO)
    updatedFrom = MomentFilter("updated_at", "gte", help_text=UPDATED_FROM)

    class Meta:
        model = Order
        fields: list[str] = []
        form = PortugueseForm

    def of_order(self, orders: QuerySet[Order], _name: str, values: list[str]) -> QuerySet[Order]:
        return self._with_code(orders, SearchCode.Kind.ORDER, _with_commas(values)) if values else orders

    def of_company(self, orders: QuerySet[Order], _name: str, value: str) -> QuerySet[Order]:
        # Another seller's company has none of these orders.
        company = Company.objects.filter(document=value).values("pk")
        return orders.filter(any_of("company", ArraySubquery(company)))

    def of_tracking_code(self, orders: QuerySet[Order], _name: str, value: str) -> QuerySet[Order]:
        return self._with_code(orders, SearchCode.Kind.TRACKING_CODE, [value])

    def _with_code(self, orders: QuerySet[Order], kind: SearchCode.Kind, values: list[str]) -> QuerySet[Order]:
        key = self.request.auth
        own = SearchCode.objects.filter(seller=key.seller_id, environment=key.environment, kind=kind)
        codes = own.named(values[0]) if len(values) == 1 else own.any_named(values)
        return orders.filter(any_of("pk", ArraySubquery(codes.order_by().values("order_id"))))


def keys_of_orders(codes: SearchCodeQuerySet, values: list[str]) -> list[int]:
    """The keys of the orders that the list finds by these orderIds, among the codes of a seller and environment."""
    named = codes.filter(kind=SearchCode.Kind.ORDER).any_named(_with_commas(values))
    return [*named.order_by().values_list("order_id", flat=True)[:_MOST_ORDERS]]


def _with_commas(values: list[str]) -> list[str]:
    """What was sent between commas, and the whole, because an orderId may hold commas."""
    return values if len(values) == 1 else [*values, ",".join(values)]


class FeedQuery(FeedFilter):
    """Parameters of the feed of events."""

    orderId = ManyFilter(help_text=f"The orders whose events are asked for. {_COMMAS}")

    class Meta:
        form = PortugueseForm

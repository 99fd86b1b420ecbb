"""Query parameters of the lists of area B."""

import django_filters
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import QuerySet

from common.api.pagination import (
    CREATED_FROM,
    CREATED_TO,
    MOST_ROWS,
    CursorFilter,
    ListFilter,
    MomentFilter,
    QueryFilter,
    QueryForm,
    TextFilter,
)
from common.fields import any_of
from integration.lifecycle import Status
from integration.models import Order, SearchCode

_STATUSES = [status.value for status in Status]
_ALIKE = "If none is exactly so, those that are without regard to case, spaces, dots and dashes."


class PortugueseForm(QueryForm):
    messages = {
        "blank": "Omita o parâmetro ou dê um valor a ele.",
        "repeated": "Informe o parâmetro uma só vez.",
        "invalid_limit": f"Deve ser um número inteiro de 1 a {MOST_ROWS}.",
        "invalid_moment": (
            "Deve ser uma data ou um instante em ISO 8601, como 2026-11-20 ou 2026-11-20T10:00:00-03:00. Codifique o "
            "+ do fuso na URL."
        ),
        "max_length": "No máximo 255 caracteres.",
        "null_characters_not_allowed": "Contém um caractere não aceito (U+0000).",
    }


class OrderFilter(ListFilter):
    orderId = TextFilter(method="of_order", help_text=f"The orderId. {_ALIKE}")
    trackingCode = TextFilter(method="of_tracking_code", help_text=f"The tracking code. {_ALIKE}")
    status = django_filters.ChoiceFilter(
        help_text="The status of the order.",
        choices=[(status, status) for status in _STATUSES],
        error_messages={"invalid_choice": f"Deve ser um destes: {', '.join(_STATUSES)}."},
    )
    createdFrom = MomentFilter("created_at", "gte", help_text=CREATED_FROM)
    createdTo = MomentFilter("created_at", "lt", is_end=True, help_text=CREATED_TO)

    class Meta:
        model = Order
        fields: list[str] = []
        form = PortugueseForm

    def of_order(self, orders: QuerySet[Order], _name: str, value: str) -> QuerySet[Order]:
        return self._with_code(orders, SearchCode.Kind.ORDER, value)

    def of_tracking_code(self, orders: QuerySet[Order], _name: str, value: str) -> QuerySet[Order]:
        return self._with_code(orders, SearchCode.Kind.TRACKING_CODE, value)

    def _with_code(self, orders: QuerySet[Order], kind: SearchCode.Kind, value: str) -> QuerySet[Order]:
        key = self.request.auth
        codes = SearchCode.objects.filter(seller=key.seller_id, environment=key.environment, kind=kind).named(value)
        return orders.filter(any_of("pk", ArraySubquery(codes.order_by().values("order_id"))))


class FeedQuery(QueryFilter):
    """Parameters of the feed of events, which selects them itself."""

    after = CursorFilter(help_text="`nextCursor` of the answer before.")

    class Meta:
        form = PortugueseForm

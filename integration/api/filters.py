"""Query parameters of the list of orders. Their messages are Portuguese, like all of area B's."""

import django_filters

from common.pagination import CREATED_FROM, CREATED_TO, MOST_ROWS, ListFilter, MomentFilter, QueryForm, TextFilter
from integration.lifecycle import Status
from integration.models import Order

_STATUSES = [status.value for status in Status]


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
    orderId = TextFilter("code", help_text="The orderId, exactly.")
    trackingCode = TextFilter("tracking_code", help_text="The tracking code, exactly.")
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

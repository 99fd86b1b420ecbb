"""Query parameters of the lists of area A."""

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
from delivery.lifecycle import Status
from delivery.models import Delivery, Stop

_STATUSES = [status.value for status in Status]


class EnglishForm(QueryForm):
    messages = {
        "blank": "Leave the parameter out, or give it a value.",
        "repeated": "Give the parameter once.",
        "invalid_limit": f"An integer from 1 to {MOST_ROWS}.",
        "invalid_moment": (
            "A date or moment in ISO 8601, such as 2026-11-20 or 2026-11-20T10:00:00-03:00. Percent-encode the + of an "
            "offset."
        ),
        "reversed": "This is before createdFrom.",
        "invalid_id": "UUIDs, with commas between them.",
        "too_many": "At most {most} values.",
        "max_length": "At most 255 characters.",
        "null_characters_not_allowed": "NUL (U+0000) is not allowed.",
    }


class DeliveryFilter(ListFilter):
    externalId = TextFilter(method="of_external_id", help_text="The externalId of any drop-off, exactly.")
    deliveryId = ManyFilter("pk", are_ids=True, help_text="The ids of deliveries.")
    status = ManyFilter(
        is_each=True,
        help_text="The status of the delivery, or several.",
        choices=_STATUSES,
        error_messages={"invalid_choice": f"Choose one of: {', '.join(_STATUSES)}."},
    )
    createdFrom = MomentFilter("created_at", "gte", help_text=CREATED_FROM)
    createdTo = MomentFilter("created_at", "lt", is_end=True, help_text=CREATED_TO)
    updatedFrom = MomentFilter("updated_at", "gte", help_text=UPDATED_FROM)

    class Meta:
        model = Delivery
        fields: list[str] = []
        form = EnglishForm

    def of_external_id(self, queryset: QuerySet[Delivery], _name: str, value: str) -> QuerySet[Delivery]:
        """Deliveries with this externalId at any drop-off."""
        return queryset.filter(Stop.refers_to("pk", external_id=value))


class FeedQuery(FeedFilter):
    """Parameters of the feed of events."""

    deliveryId = ManyFilter(are_ids=True, help_text="The deliveries whose events are asked for.")

    class Meta:
        form = EnglishForm

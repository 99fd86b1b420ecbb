"""Many changes of the same deliveries at once."""

from functools import partial

from django.utils import timezone

from delivery.actions import deliveries
from delivery.errors import DeliveryError
from delivery.models import WebhookEvent
from tests.factories import BY, DeliveryFactory
from tests.faults.report import await_all, figures_of, print_figures

_DELIVERIES = 10


def five_moves(delivery):
    """Three of these are for point B; the first succeeds, and the others are refused."""
    deliver = partial(deliveries.deliver_point, delivery=delivery, by=BY, at=timezone.now())
    fail = partial(deliveries.fail_point, delivery=delivery, point="B", reason="closed", by=BY, at=timezone.now())
    return [partial(deliver, point="B"), partial(deliver, point="B"), fail, *(partial(deliver, point=p) for p in "CD")]


def test_fifty_transitions_at_once(worker, shop, endpoint, at_once):
    collected = [DeliveryFactory.create(token=shop, collected=True) for _number in range(_DELIVERIES)]
    moves = [move for moves in zip(*map(five_moves, collected), strict=True) for move in moves]

    results = at_once(*moves)

    refused = [result for result in results if isinstance(result, DeliveryError)]
    committed = {(str(delivery.pk), sequence) for delivery in collected for sequence in range(1, 7)}
    seconds = await_all(committed, endpoint)
    figures = figures_of(committed, endpoint.receipts)
    print_figures("50 transitions at once", figures, refused=len(refused), seconds=seconds)
    assert (len(results), len(refused)) == (50, 20)
    assert [result for result in results if isinstance(result, Exception) and result not in refused] == []
    written = WebhookEvent.objects.filter(delivery__in=collected).values_list("delivery", "sequence")
    assert sorted((str(delivery), sequence) for delivery, sequence in written) == sorted(committed)
    assert (figures.received, figures.duplicated, figures.out_of_order) == (60, 0, 0)

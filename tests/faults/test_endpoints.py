"""Endpoints that return 5xx or hang."""

import pytest

from common.webhooks.http_client import TOTAL_SECONDS
from delivery.models import WebhookAttempt
from tests.factories import DeliveryFactory, add_endpoint
from tests.faults.endpoint import Answer
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until


def attempts_of(*shops):
    return WebhookAttempt.objects.filter(event__endpoint__integrator__in=[shop.integrator for shop in shops])


def committed(deliveries):
    """The three events of each collected delivery."""
    return {(str(delivery.pk), sequence) for delivery in deliveries for sequence in (1, 2, 3)}


def test_an_endpoint_that_recovers_gets_everything_in_order(worker, shop, endpoint):
    endpoint.answer = Answer(500)
    deliveries = [DeliveryFactory.create(token=shop, collected=True) for _number in range(8)]
    # One more than opens the breaker.
    until(lambda: len(endpoint.receipts) > 5, what="six refusals")
    endpoint.answer = Answer()

    seconds = await_all(committed(deliveries), endpoint)

    refused = [receipt for receipt in endpoint.receipts if not receipt.is_accepted]
    figures = figures_of(committed(deliveries), endpoint.receipts)
    print_figures("500, then healthy", figures, refused=len(refused), seconds_until_all_received=seconds)
    assert {receipt.event[1] for receipt in refused} == {1}
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)


def test_a_slow_answer_is_cut_and_delays_no_other_endpoint(worker, shop, endpoint, shop_at, new_endpoint):
    slow_endpoints = [new_endpoint(Answer(200, slow_part=part)) for part in ("head", "body")]
    shops = [shop_at(slow.url) for slow in slow_endpoints]
    with Load(shop, per_second=10) as load:
        until(lambda: endpoint.receipts, what="the first event received")
        for token in shops * 3:
            DeliveryFactory.create(token=token)
        until(lambda: attempts_of(*shops).count() >= 6, what="every slow answer recorded")
        until(lambda: all(each.cut_at for slow in slow_endpoints for each in slow.receipts[:3]), what="every one cut")
    await_all(load.committed, endpoint)

    cut = [attempt.milliseconds / 1000 for attempt in attempts_of(*shops)]
    figures = figures_of(load.committed, endpoint.receipts)
    waited = max(receipt.at - load.committed_at[receipt.event] for receipt in endpoint.receipts)
    receipts = [receipt for slow in slow_endpoints for receipt in slow.receipts[:3]]
    all_begun, first_cut = max(receipt.at for receipt in receipts), min(receipt.cut_at for receipt in receipts)
    meanwhile = [receipt for receipt in endpoint.receipts if all_begun < receipt.at < first_cut]
    print_figures("Slow answers", figures, cut_first_after=min(cut), cut_last_after=max(cut),
        others_meanwhile=len(meanwhile), others_waited_at_most=waited)  # fmt: skip
    assert {attempt.error for attempt in attempts_of(*shops)} == {"timeout"}
    assert len(receipts) == 6
    assert len(meanwhile) > 20
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)


# Fails if events are ordered by delivery and not by delivery and endpoint (`_NEXT_EVENT` in
# common/webhooks/settlement.py, and the unique constraint of ordered queue items), or wait until the one that hangs is
# given up.
@pytest.mark.ci
def test_of_three_endpoints_of_one_account_one_that_hangs_and_one_that_refuses_delay_neither_the_third(
    worker, shop, endpoint, new_endpoint
):
    hanging, refusing = new_endpoint(Answer(200, slow_part="head")), new_endpoint(Answer(500))
    for other in (hanging, refusing):
        add_endpoint(shop, url=other.url)
    deliveries = [DeliveryFactory.create(token=shop, collected=True) for _number in range(8)]

    seconds = await_all(committed(deliveries), endpoint)
    until(lambda: len(refusing.receipts) > 5, what="six refusals")
    refusing.answer = Answer()
    seconds_of_refusing = await_all(committed(deliveries), refusing)

    figures = [figures_of(committed(deliveries), each.receipts) for each in (endpoint, refusing)]
    print_figures("Third of three endpoints", figures[0], seconds_until_all_received=seconds)
    print_figures("The one that had refused", figures[1], seconds_until_all_received=seconds_of_refusing)
    for each in figures:
        assert (each.lost, each.duplicated, each.out_of_order) == (0, 0, 0)
    first_second_event = min(receipt.at for receipt in endpoint.receipts if receipt.event[1] == 2)
    assert first_second_event - hanging.receipts[0].at < TOTAL_SECONDS / 2
    assert {receipt.event[1] for receipt in hanging.receipts} == {1}
    ids = {receipt.event: receipt.webhook_id for receipt in endpoint.receipts}
    assert ids == {receipt.event: receipt.webhook_id for receipt in refusing.receipts}

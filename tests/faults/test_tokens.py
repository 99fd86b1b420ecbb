"""Tokens and signing secrets that are rotated or revoked while webhooks are sent."""

import math
import time

import pytest
from django.utils import timezone
from standardwebhooks import Webhook

from common.webhooks import endpoints
from delivery.accounts import tokens
from tests.factories import BY
from tests.faults.load import Load
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import until

_ROTATIONS = 4


@pytest.mark.usefixtures("worker")
def test_every_webhook_carries_a_token_that_is_valid(shop, endpoint):
    current, revoked_at = shop, {}
    with Load(shop, per_second=20) as load:
        for rotation in range(1, _ROTATIONS + 1):
            until(lambda: len(endpoint.receipts) > 20 * rotation, what="another 20 received")  # noqa: B023  # used at once
            replaced, current = current, tokens.rotate(token=current, by=BY, at=timezone.now())
            tokens.revoke(token=replaced, by=BY, at=timezone.now())
            revoked_at[f"Bearer {replaced.clear_text}"] = time.time()
        until(lambda: len(endpoint.receipts) > 20 * (_ROTATIONS + 1), what="another 20 received")
    await_all(load.committed, endpoint)

    figures = figures_of(load.committed, endpoint.receipts)
    carried = [receipt.headers["authorization"] for receipt in endpoint.receipts]
    # The timestamp is the whole second before the request was built. One that is under way may arrive later.
    late = [
        receipt
        for receipt in endpoint.receipts
        if int(receipt.headers["webhook-timestamp"]) > revoked_at.get(receipt.headers["authorization"], math.inf)
    ]
    print_figures("Tokens rotated and revoked", figures, tokens_carried=len(set(carried)), after_revocation=len(late))
    assert (figures.lost, figures.duplicated, figures.out_of_order, late) == (0, 0, 0, [])
    assert set(carried) == {*revoked_at, f"Bearer {current.clear_text}"}


@pytest.mark.usefixtures("worker")
def test_the_old_and_the_new_secret_verify_every_webhook_after_a_rotation(shop, endpoint):
    record = shop.integrator.endpoints.get(environment=shop.environment)
    old = record.secret
    with Load(shop, per_second=20) as load:
        until(lambda: len(endpoint.receipts) > 20, what="20 received")
        new = endpoints.rotate_secret(endpoint=record, by=BY, at=timezone.now())
        before = len(endpoint.receipts)
        until(lambda: len(endpoint.receipts) > before + 20, what="20 more received")
    await_all(load.committed, endpoint)

    for receipt in endpoint.receipts:
        Webhook(old).verify(receipt.body, receipt.headers)
    with_new = 0
    for receipt in endpoint.receipts[before + 4 :]:  # four may have been under way
        Webhook(new).verify(receipt.body, receipt.headers)
        with_new += 1
    figures = figures_of(load.committed, endpoint.receipts)
    print_figures("Secret rotated", figures, verified_with_the_old=len(endpoint.receipts), with_the_new=with_new)
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)

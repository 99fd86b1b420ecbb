"""The Celery tasks that changes of deliveries start, by their names, so that web processes import none of them."""

SEND_DUE = "delivery.webhooks.send_due"
SEND_MISSED = "delivery.webhooks.send_missed"
ADVANCE_SIMULATIONS = "delivery.advance_simulations"
RENEW_ARRIVALS = "delivery.renew_arrivals"
PUSH_OFFER = "delivery.push_offer"
COPY_STREETS = "delivery.copy_streets"
CHECK_DRAFTS = "delivery.check_drafts"

"""The Celery tasks that changes of orders start, by their names, so that web processes import none of them."""

SEND_DUE = "integration.webhooks.send_due"
SEND_MISSED = "integration.webhooks.send_missed"
ADVANCE_SIMULATIONS = "integration.advance_simulations"

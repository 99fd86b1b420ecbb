"""What only area B does with its endpoints: authentication, and telling sellers of their health."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.urls import reverse

from common.accounts import Environment
from common.mail import outbox
from common.mail.models import Kind
from common.pages.page_updates import publish_on_commit
from common.webhooks import endpoints, health
from common.webhooks.models import Health
from integration.models import Authentication, EndpointAlerts, WebhookEndpoint
from integration.webhooks.outbox import OUTBOX

_log = logging.getLogger(__name__)
_LIFETIME = timedelta(days=1)
_LANGUAGE = "pt-br"  # sellers are Brazilian companies; members choose no language


@transaction.atomic
def set_authentication(
    *, endpoint: WebhookEndpoint, authentication: Authentication, by: str, at: datetime
) -> WebhookEndpoint:
    """Send webhooks with this from now on. Raises InvalidAuthentication or AccountSuspended."""
    authentication.check()
    found = endpoints.lock_of_active(endpoint)
    found.authentication = authentication
    found.save(update_fields=["authentication_kind", "header_name", "authentication_ciphertext"])
    subject = authentication.header().hint or authentication.kind
    endpoints.record_in_audit_trail(found, "authentication_set", subject, by=by, at=at)
    publish_on_commit(OUTBOX.endpoint_changed(found.pk))
    return found


def tell_changes(*, at: datetime) -> int:
    """Tell the members of each seller whose endpoint's state is another than the one told last. Returns how many.

    Of the sandbox nobody is told.
    """
    return health.tell_changes(EndpointAlerts, _tell, at=at)


def _tell(alerts: EndpointAlerts, state: Health, facts: dict[str, Any], at: datetime) -> None:
    endpoint: WebhookEndpoint = alerts.endpoint
    if endpoint.environment != Environment.LIVE or not outbox.is_configured():
        return
    page = outbox.link(reverse("panel:seller_webhook", args=endpoint.url_arguments))
    context = {"endpoint": endpoint, "seller": endpoint.seller, "account": endpoint.seller.name, "link": page, **facts}
    members = endpoint.seller.memberships.filter(user__is_active=True).exclude(user__email="")
    for member in members.select_related("user"):
        if outbox.is_address(member.user.email):
            outbox.record(
                kind=Kind.ALERT,
                recipient=member.user.email,
                template=f"alert_{state}",
                context=context,
                language=_LANGUAGE,
                at=at,
                lifetime=_LIFETIME,
            )
        else:
            _log.warning("user %s is not told of %s: the address cannot be mailed to", member.user_id, state)

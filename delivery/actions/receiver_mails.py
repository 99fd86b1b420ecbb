"""The e-mail with the link of a stop, to a receiver whose address the request gave."""

from datetime import datetime, timedelta

from common.mail import outbox
from common.mail.models import Kind
from delivery.actions import receiver_links
from delivery.models import Delivery, DropoffOptions, Environment

# The request does not say which language a receiver reads.
_LANGUAGE = "pt-br"
# Later the order has arrived.
_LIFETIME = timedelta(hours=6)


def record(delivery: Delivery, *, at: datetime) -> None:
    """Record an e-mail for each stop with an address, within the transaction of the collection, which happens once.

    None of the sandbox, whose deliveries do not arrive, and none without a mail server.
    """
    if delivery.environment == Environment.SANDBOX or not outbox.is_configured():
        return
    found = (
        DropoffOptions.objects.filter(stop__delivery=delivery)
        .exclude(contact_email="")
        .select_related("stop__delivery")
    )
    stops = {options.stop: options.contact_email for options in found}
    links = receiver_links.addresses(list(stops), at=at)
    for stop, address in stops.items():
        outbox.record(
            kind=Kind.RECEIVER,
            recipient=address,
            template="receiver_link",
            context={"shop": delivery.contact_name, "link": links[stop.pk]},
            language=_LANGUAGE,
            at=at,
            lifetime=_LIFETIME,
        )

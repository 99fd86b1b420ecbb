"""What pages, the admin and files show of orders and invoices. See `common.columns`."""

from typing import Any

from django.template.defaultfilters import yesno
from django.utils.translation import gettext_lazy as _

from common.actors import actor_name
from common.brazil.formats import day, document, moment, money
from common.columns import ADMIN, FILE, PAGE, Code, Column
from integration import words
from integration.invoices.models import Invoice
from integration.models import Order


def _address(order: Order) -> dict[str, Any]:
    return order.receiver.get("address") or {}


# A field of an order that is one line here is shown everywhere. The order's page shows what stands on FILE and ADMIN
# alone outside its summary.
ORDER = (
    Column(_("order"), "code", Code, on=FILE | ADMIN, heading="orderId"),
    Column(_("tracking code"), "tracking_code", Code, on=FILE | ADMIN),
    Column(_("status"), lambda order: words.state(order.status), on=FILE | ADMIN),
    Column(_("service"), "service", words.service),
    Column(_("order value"), "cost", money, heading=_("cost")),
    Column(_("company"), "company", on=ADMIN),
    Column(_("company"), "company.document", on=FILE),
    Column(_("receiver"), "receiver_name", on=FILE),
    Column(_("receiver's document"), "receiver_document", on=FILE),
    Column(_("city"), lambda order: _address(order).get("city"), on=FILE),
    Column(_("state"), lambda order: _address(order).get("state"), on=FILE),
    Column(_("invoice key"), "invoice_key", Code, on=FILE | ADMIN),
    Column(_("created at"), "created_at", moment, on=FILE | ADMIN),
    Column(_("freight"), "freight_reais", money, on=FILE | ADMIN),
    Column(_("deadline (business days)"), "freight_days", on=FILE | ADMIN),
    Column(_("promised for"), "promised_on", day, on=FILE | ADMIN),
    Column(_("delivered at"), "delivered_at", moment, on=FILE | ADMIN),
    Column(_("carrier"), "carrier", on=FILE | ADMIN),
    Column(_("volumes"), "volumes"),
    Column(_("Shipping id"), "pk", Code, on=PAGE | ADMIN),
    Column(_("environment"), "get_environment_display", on=ADMIN),
    Column(_("seller"), "seller", on=ADMIN),
    Column(_("created by"), "created_by", actor_name, on=ADMIN),
)


def _references(invoice: Invoice) -> str:
    return " ".join(each.value for each in invoice.references.all())


def _orders(invoice: Invoice) -> str:
    return " ".join(link.order.code for link in invoice.links.all())


INVOICE = (
    Column(_("access key"), "access_key", Code, on=FILE | ADMIN),
    Column(_("number"), "number", on=FILE | ADMIN),
    Column(_("series"), "series", on=FILE | ADMIN),
    Column(_("issuer"), "issuer_document", document),
    Column(_("value"), "value", money),
    Column(_("issued at"), "issued_at", moment),
    Column(_("received at"), "received_at", moment, on=FILE | ADMIN),
    Column(_("order references"), _references, on=FILE),
    Column(_("linked orders"), _orders, on=FILE),
    Column(_("layout"), "layout", on=PAGE | ADMIN),
    Column(_("protocol status (cStat)"), "protocol", on=ADMIN),
    Column(_("denied or cancelled"), "is_void", yesno, on=ADMIN),
    Column(_("of a return"), "is_return", yesno, on=ADMIN),
    Column(_("environment"), "get_environment_display", on=ADMIN),
    Column(_("seller"), "seller", on=ADMIN),
    Column(_("received by"), "received_by", actor_name, on=ADMIN),
)

"""What is always true of orders, their status logs, codes and invoices together, and no constraint holds."""

from common.postgresql.invariants import Invariant
from common.webhooks.invariants import of_webhooks
from integration import lifecycle

_NEXT = {before: (*after, *({before} & {*lifecycle.BY_CARRIER})) for before, after in lifecycle.TABLE.items()}
_ALLOWED = ", ".join(f"('{before}', '{after}')" for before, nexts in _NEXT.items() for after in nexts)
# The codes by which a tracking query finds an order: kind and the order's value.
_OWN_CODES = """(VALUES
    ('tracking_code', CASE WHEN NOT o.tracking_code_reused THEN o.tracking_code END),
    ('order', CASE WHEN NOT o.code_reused THEN o.code END), ('shipping', o.id::text),
    ('invoice_key', CASE WHEN NOT o.code_reused THEN nullif(o.invoice_key, '') END)) AS wanted (kind, value)"""

_ORDERS = (
    Invariant(
        "order_has_its_last_status",
        "orders have the status of the last entry of their log",
        """
        SELECT o.id FROM integration_order o
        LEFT JOIN (SELECT DISTINCT ON (order_id) order_id, status FROM integration_statuslog
                   ORDER BY order_id, id DESC) AS last ON last.order_id = o.id
        WHERE o.status IS DISTINCT FROM last.status""",
    ),
    Invariant(
        "simulated_orders_of_the_sandbox",
        "only orders of the sandbox are moved by the simulated carrier",
        """
        SELECT s.order_id AS id FROM integration_simulation s JOIN integration_order o ON o.id = s.order_id
        WHERE o.environment <> 'sandbox'""",
    ),
    Invariant(
        "status_log_follows_the_lifecycle",
        "logs begin with pending, and each entry is one that the lifecycle allows after the one before, or the same",
        f"""
        SELECT DISTINCT order_id AS id FROM (
            SELECT order_id, status, lag(status) OVER (PARTITION BY order_id ORDER BY id) AS before
            FROM integration_statuslog) AS log
        WHERE (before IS NULL AND status <> 'pending')
           OR (before IS NOT NULL AND (before, status) NOT IN ({_ALLOWED}))""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "status_log_of_the_company",
        "entries of a log name the order's company",
        """
        SELECT DISTINCT o.id FROM integration_statuslog l JOIN integration_order o ON o.id = l.order_id
        WHERE l.company_id <> o.company_id""",
    ),
    Invariant(
        "order_of_its_company",
        "orders belong to the seller of their company",
        """
        SELECT o.id FROM integration_order o JOIN integration_company c ON c.id = o.company_id
        WHERE c.seller_id <> o.seller_id""",
    ),
    Invariant(
        "order_is_found_by_its_codes",
        "orders are found by their own codes, but those that another order has by now",
        f"""
        SELECT DISTINCT o.id FROM integration_order o CROSS JOIN LATERAL {_OWN_CODES}
        WHERE wanted.value IS NOT NULL
          AND NOT EXISTS (SELECT FROM integration_searchcode s
                          WHERE (s.order_id, s.kind, s.value) = (o.id, wanted.kind, wanted.value))""",  # noqa: S608  # nosec B608  # constants
    ),
    Invariant(
        "receiver_mail_of_its_seller",
        "e-mails to receivers belong to the seller of their order, which is live",
        """
        SELECT m.id FROM integration_receivermail m JOIN integration_order o ON o.id = m.order_id
        WHERE m.seller_id <> o.seller_id OR o.environment <> 'live'""",
    ),
    Invariant(
        "search_code_of_its_seller",
        "search codes belong to the seller and the environment of their order",
        """
        SELECT s.id FROM integration_searchcode s JOIN integration_order o ON o.id = s.order_id
        WHERE (s.seller_id, s.environment) <> (o.seller_id, o.environment)""",
    ),
)

_INVOICES = (
    Invariant(
        "invoice_link_within_a_seller",
        "invoices are linked to orders of the same seller and environment",
        """
        SELECT l.id FROM integration_invoicelink l
        JOIN integration_invoice v ON v.id = l.invoice_id JOIN integration_order o ON o.id = l.order_id
        WHERE (v.seller_id, v.environment) <> (o.seller_id, o.environment)""",
    ),
    Invariant(
        "invoice_reference_of_its_seller",
        "order references belong to the seller of their invoice",
        """
        SELECT r.id FROM integration_invoicereference r JOIN integration_invoice v ON v.id = r.invoice_id
        WHERE r.seller_id <> v.seller_id""",
    ),
    Invariant(
        "order_is_found_by_its_invoices",
        "orders are found by the access key of each invoice that is linked",
        """
        SELECT l.id FROM integration_invoicelink l JOIN integration_invoice v ON v.id = l.invoice_id
        WHERE NOT EXISTS (SELECT FROM integration_searchcode s
                          WHERE (s.order_id, s.kind, s.value) = (l.order_id, 'invoice_key', v.access_key))""",
    ),
)

_MANIFESTS = (
    Invariant(
        "manifest_within_a_seller",
        "orders of manifests belong to the manifest's seller and environment",
        """
        SELECT e.id FROM integration_manifestentry e
        JOIN integration_manifest m ON m.id = e.manifest_id JOIN integration_order o ON o.id = e.order_id
        WHERE (m.seller_id, m.environment) <> (o.seller_id, o.environment)""",
    ),
    Invariant(
        "manifest_is_handed_over",
        "open manifests have no cancelled order, closed ones no order that waits",
        """
        SELECT e.id FROM integration_manifestentry e
        JOIN integration_manifest m ON m.id = e.manifest_id JOIN integration_order o ON o.id = e.order_id
        WHERE o.status = CASE WHEN m.closed_at IS NULL THEN 'cancelled' ELSE 'pending' END""",
    ),
)

_WEBHOOKS = (
    Invariant(
        "entry_has_its_event",
        "from the first one on, entries of a log have events with their status and place, if the order is not marked",
        """
        SELECT e.order_id AS id FROM (
            SELECT v.order_id, bool_and(o.unrecorded_at IS NULL) AS is_whole, min(v.sequence) AS first,
                   max(v.sequence) AS last, array_agg(v.name::text ORDER BY v.sequence) AS names
            FROM integration_webhookevent v JOIN integration_order o ON o.id = v.order_id
            WHERE v.copy_of IS NULL GROUP BY v.order_id) AS e
        WHERE e.names IS DISTINCT FROM (
            SELECT array_agg(l.status::text ORDER BY l.number) FROM (
                SELECT status, row_number() OVER (ORDER BY id) AS number
                FROM integration_statuslog WHERE order_id = e.order_id) AS l
            WHERE l.number >= e.first AND (l.number <= e.last OR e.is_whole))""",
    ),
    *of_webhooks("integration", subject="order", owner="seller", prefix="order_"),
)

ALL: tuple[Invariant, ...] = (*_ORDERS, *_INVOICES, *_MANIFESTS, *_WEBHOOKS)

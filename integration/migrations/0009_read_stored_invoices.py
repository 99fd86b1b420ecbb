"""Reads what the files of stored invoices say of their protocol, cancellation and recipient, and why orders are linked.

An invoice that turns out to be cancelled loses its links, as one that is received so does. Outside a transaction, in
batches that can be repeated: invoices with a protocol and links with a reason are left. A file that cannot be read is
logged and left as it is.
"""

import logging
from typing import Any

from django.db import migrations, transaction
from lxml import etree

_log = logging.getLogger(__name__)
_BATCH = 200
_LINKS = 5_000
_VOID = {"110", "205", "301", "302", "303", "101", "151", "155", "218"}
_CANCELLATIONS, _REGISTERED = {"110111", "110112"}, {"135", "136", "155"}
_CANCELLED = {"101", "151", "155", "218"}

_FILES = """
SELECT id, seller_id, access_key, number, is_void, raw FROM integration_invoice
WHERE id > %s AND protocol = '' AND forgotten_at IS NULL ORDER BY id LIMIT %s
"""
_READ = """
UPDATE integration_invoice SET protocol = %s, is_return = %s, recipient_document = %s
WHERE id = %s AND protocol = '' AND forgotten_at IS NULL
"""
_MAKE_VOID = """
WITH unlinked AS (DELETE FROM integration_invoicelink WHERE invoice_id = %(id)s RETURNING order_id)
INSERT INTO integration_invoicechange (invoice_id, order_id, kind, reason, text, by, at)
SELECT %(id)s, order_id, 'unlinked', 'void', '', 'migration', now() FROM unlinked
UNION ALL SELECT %(id)s, NULL, 'marked_void', 'void', '', 'migration', now()
"""
_FORGET_CODES = """
DELETE FROM integration_searchcode code USING integration_order o, integration_invoicechange change
WHERE change.invoice_id = %(id)s AND change.kind = 'unlinked' AND o.id = change.order_id AND code.order_id = o.id AND (
    (code.kind = 'invoice_key' AND code.value = %(key)s AND o.invoice_key <> %(key)s)
    OR (code.kind = 'invoice_number' AND code.value = %(number)s
        AND o.invoice_data->>'number' IS DISTINCT FROM %(number)s
        AND NOT EXISTS (
            SELECT FROM integration_invoicelink link JOIN integration_invoice other ON other.id = link.invoice_id
            WHERE link.order_id = o.id AND other.number = %(number)s
        ))
)
"""
_REASONS = """
UPDATE integration_invoicelink link SET reason = CASE
    WHEN EXISTS (SELECT FROM integration_invoicereference r WHERE (r.invoice_id, r.value) = (link.invoice_id, o.code))
        THEN 'reference'
    WHEN o.invoice_key = invoice.access_key THEN 'access_key'
    WHEN EXISTS (
        SELECT FROM integration_invoicereference r WHERE (r.invoice_id, r.value) = (link.invoice_id, left(o.code, 15))
    ) THEN 'cut_reference'
    ELSE 'by_hand' END
FROM integration_invoice invoice, integration_order o
WHERE link.id > %s AND link.id <= %s AND link.reason = '' AND invoice.id = link.invoice_id AND o.id = link.order_id
"""


def _text(parent: Any, *path: str) -> str:
    for name in path:
        parent = None if parent is None else next(parent.iterchildren(f"{{*}}{name}"), None)
    return "" if parent is None else (parent.text or "").strip()


def facts(raw: bytes, key: str) -> tuple[str, bool, str, bool]:
    """Protocol, whether it is of a return, the recipient, and whether it is void; of the first note of a file."""
    root = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    note = root if etree.QName(root).localname == "NFe" else next(root.iterchildren("{*}NFe"), None)
    invoice = None if note is None else next(note.iterchildren("{*}infNFe"), None)
    if invoice is None:
        raise ValueError("no infNFe")
    protocol = next(
        (
            _text(each, "infProt", "cStat")
            for each in root.iterchildren("{*}protNFe")
            if _text(each, "infProt", "chNFe") in (key, "")
        ),
        "",
    )[:3]
    is_void = protocol in _VOID
    for answer in root.iter("{*}retEvento"):
        kind, status = _text(answer, "infEvento", "tpEvento"), _text(answer, "infEvento", "cStat")
        own = _text(answer, "infEvento", "chNFe") in (key, "")
        is_void |= own and kind in _CANCELLATIONS and status in _REGISTERED
    for answer in root.iter("{*}retCancNFe"):
        is_void |= _text(answer, "infCanc", "chNFe") in (key, "") and _text(answer, "infCanc", "cStat") in _CANCELLED
    is_return = _text(invoice, "ide", "finNFe") == "4" or _text(invoice, "ide", "tpNF") == "0"
    recipient = _text(invoice, "dest", "CNPJ") or _text(invoice, "dest", "CPF")
    return protocol, is_return, recipient if len(recipient) in (11, 14) else "", is_void


def read_files(apps: Any, schema_editor: Any) -> None:
    connection, last = schema_editor.connection, 0
    while True:
        with connection.cursor() as cursor:
            cursor.execute(_FILES, [last, _BATCH])
            rows = cursor.fetchall()
        if not rows:
            return
        last, read, void = rows[-1][0], [], []
        for pk, seller, key, number, was_void, raw in rows:
            try:
                protocol, is_return, recipient, is_void = facts(bytes(raw), key)
            except (etree.XMLSyntaxError, ValueError, LookupError):
                _log.warning("the file of invoice %s cannot be read", pk, exc_info=True)
                continue
            read.append([protocol, is_return, recipient, pk])
            if is_void and not was_void:
                void.append((seller, {"id": pk, "key": key, "number": number}))
        with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
            cursor.executemany(_READ, read)
        for seller, values in void:
            with transaction.atomic(using=connection.alias), connection.cursor() as cursor:
                cursor.execute("SELECT FROM integration_seller WHERE id = %s FOR NO KEY UPDATE", [seller])
                cursor.execute("UPDATE integration_invoice SET is_void = TRUE WHERE id = %s", [values["id"]])
                cursor.execute(_MAKE_VOID, values)
                cursor.execute(_FORGET_CODES, values)


def find_reasons(apps: Any, schema_editor: Any) -> None:
    with schema_editor.connection.cursor() as cursor:
        cursor.execute("SELECT coalesce(max(id), 0) FROM integration_invoicelink")
        (last,) = cursor.fetchone()
        for first in range(0, last, _LINKS):
            cursor.execute(_REASONS, [first, first + _LINKS])


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0008_environments_apart")]

    operations = [
        migrations.RunPython(find_reasons, migrations.RunPython.noop),
        migrations.RunPython(read_files, migrations.RunPython.noop),
    ]

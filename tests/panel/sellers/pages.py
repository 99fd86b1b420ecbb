"""Addresses, messages and queries of a seller's pages."""

from typing import Any

from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from integration.models import Seller


def url(name: str, seller: Seller, *args: Any) -> str:
    """The address of a page of the seller."""
    return reverse(f"panel:{name}", args=[seller.pk, "live", *args])


def said(response: Any) -> str:
    """The messages of a page."""
    return " ".join(str(message) for message in response.context["messages"])


def plans_of(captured: CaptureQueriesContext, table: str) -> list[str]:
    """The plans of the captured queries of this table, without scans of whole tables wherever an index will do."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        plans = []
        for row in captured.captured_queries:
            if f'"{table}"' in row["sql"]:
                cursor.execute(f"EXPLAIN {row['sql']}")
                plans.append("\n".join(line[0] for line in cursor.fetchall()))
    return plans

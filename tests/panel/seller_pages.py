"""Addresses and messages of a seller's pages."""

from typing import Any

from django.urls import reverse

from integration.models import Seller


def url(name: str, seller: Seller, *args: Any) -> str:
    """The address of a page of the seller."""
    return reverse(f"panel:{name}", args=[seller.pk, *args])


def said(response: Any) -> str:
    """The messages of a page."""
    return " ".join(str(message) for message in response.context["messages"])

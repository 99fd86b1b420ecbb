"""Answers with labels and manifests, of the API and of pages."""

from collections.abc import Iterable

from django.http import HttpResponse

from integration.models import Manifest, Order
from integration.papers import label, label_pdf, label_zpl, manifest_pdf
from integration.papers.label_pdf import Size

FORMATS = ("pdf", "zpl")  # of labels


def labels(
    orders: Iterable[Order],
    *,
    format: str = "pdf",  # noqa: A002  # as in the API
    size: str = Size.CM_10X15,
    position: int = 1,
    zpl_as: str = "text/plain; charset=utf-8",
) -> HttpResponse:
    """The labels of orders, see `label.of_orders`. `format`: `pdf` or `zpl`, which has one size and this media type."""
    found = label.of_orders(orders)
    if format == "zpl":
        return HttpResponse(label_zpl.write(found), content_type=zpl_as, headers=_named("etiquetas.zpl"))
    return _pdf(label_pdf.write(found, size=Size(size), position=position), name="etiquetas")


def manifest(found: Manifest) -> HttpResponse:
    """A manifest that was read by `with_orders`."""
    return _pdf(manifest_pdf.write(found), name=f"romaneio-{found.pk}")


def _pdf(content: bytes, *, name: str) -> HttpResponse:
    return HttpResponse(content, content_type="application/pdf", headers=_named(f"{name}.pdf"))


def _named(file: str) -> dict[str, str]:
    return {"Content-Disposition": f'inline; filename="{file}"'}

"""Opening a seller with its companies."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import transaction

from integration.errors import CompanyTaken, InvalidDocument
from integration.models import Company, Seller, compact_document


@transaction.atomic
def open_(*, name: str, documents: Sequence[str]) -> Seller:
    """A new seller with a company for each document.

    Raises InvalidDocument or CompanyTaken; then nothing is written.
    """
    seller = Seller.objects.create(name=name)
    for document in documents:
        _register(seller, document)
    return seller


def _register(seller: Seller, document: str) -> None:
    company = Company(seller=seller, document=compact_document(document))
    try:
        company.clean_fields()
    except ValidationError as error:
        raise InvalidDocument(f"'{document}' is neither a CNPJ nor a CPF with right check digits.") from error
    if Company.objects.filter(document=company.document).exists():
        raise CompanyTaken(f"The company {company.document} is registered already.")
    company.save()

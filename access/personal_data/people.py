"""Naming one person by a telephone number or a document."""

from dataclasses import dataclass

from common import phones
from common.errors import DomainError
from integration.models import compact_document

_LONGEST = 40
_DOCUMENT_LENGTHS = (11, 14)  # of a CPF and a CNPJ
_HINT_DIGITS = 4


class InvalidPerson(DomainError):
    """Neither a whole telephone number nor a CPF or CNPJ."""

    code = "invalid_person"


@dataclass(frozen=True)
class Person:
    """Either a document without its mask, or the national digits of a telephone number; the other is empty."""

    document: str = ""
    phone: str = ""

    @property
    def hint(self) -> str:
        return f"…{(self.document or self.phone)[-_HINT_DIGITS:]}"


def person(*, document: str = "", phone: str = "") -> Person:
    """The person with this document or this telephone number, in any way of writing it. Raises InvalidPerson."""
    if bool(document.strip()) == bool(phone.strip()) or len(document) > _LONGEST or len(phone) > _LONGEST:
        raise InvalidPerson("Give either a document or a telephone number.")
    if phone:
        if not phones.is_whole(phone):
            raise InvalidPerson("A telephone number has its area code, such as (11) 97777-0001.")
        return Person(phone=phones.national(phone))
    compact = compact_document(document)
    if len(compact) not in _DOCUMENT_LENGTHS or not (compact.isascii() and compact.isalnum()):
        raise InvalidPerson("A document is a CPF or a CNPJ, such as 529.982.247-25.")
    return Person(document=compact)

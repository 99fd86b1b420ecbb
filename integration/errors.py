"""Domain errors of area B, each with its stable code. `api.answers` turns them into bodies, in one place.

`str(error)` is what the seller reads: the specification's sentence where it gives one, Portuguese like those elsewhere.
`status` is the HTTP status of the specification's table.
"""

from typing import ClassVar

from common.errors import DomainError


class IntegrationError(DomainError):
    """A refusal that its reader can act on."""

    status: ClassVar[int] = 422
    message: ClassVar[str] = ""

    def __init__(self, message: str = "") -> None:
        super().__init__(message or self.message)


class InvalidKey(IntegrationError):
    code = "invalid_key"
    status = 401
    message = "Request não altorizado"  # spelled so in the specification


class ForeignCompany(InvalidKey):
    """The company belongs to another seller than the key does."""

    code = "foreign_company"


class AccountSuspended(IntegrationError):
    """The seller is suspended: its keys are refused and none is issued until the suspension is lifted."""

    code = "account_suspended"
    status = 401
    message = "A conta deste vendedor está suspensa. Fale com quem opera este serviço"


class TooManyKeys(IntegrationError):
    """The seller has as many keys as it may have."""

    code = "too_many_keys"
    message = "O vendedor já tem o máximo de chaves válidas; revogue uma antes"


class InvalidReason(IntegrationError):
    """A suspension says why, in as many characters as its column holds."""

    code = "invalid_reason"
    message = "Informe o motivo, com até 255 caracteres"


class CompanyNotFound(IntegrationError):
    code = "company_not_found"
    status = 404
    message = "Empresa não encontrada"


class DuplicateOrder(IntegrationError):
    code = "duplicate_order"
    status = 400
    message = "Este objeto já foi previamente cadastrado!"


class OrderNotFound(IntegrationError):
    code = "order_not_found"
    status = 404
    message = "Objeto não encontrado"


class MoveRefused(IntegrationError):
    """The lifecycle has no such move."""

    code = "move_refused"
    status = 400


class AlreadyDelivered(MoveRefused):
    code = "already_delivered"
    message = "Este objeto já foi entregue e não pode ser cancelado"


class AlreadyCancelled(MoveRefused):
    code = "already_cancelled"
    message = "Este objeto já foi cancelado"


class NoCoverage(IntegrationError):
    code = "no_coverage"
    status = 400
    message = "Região sem cobertura"


class TooHeavy(NoCoverage):
    code = "too_heavy"


class InvalidInvoice(IntegrationError):
    code = "invalid_invoice"
    message = "O arquivo não é um XML de NF-e válido"


class InvoiceUnreferenced(InvalidInvoice):
    code = "invoice_unreferenced"
    message = "A nota fiscal não traz número de pedido (xPed) e nenhum pedido tem a sua chave de acesso"


class TooManyInvoices(IntegrationError):
    """The seller's number of invoices in 24 hours is used up. `retry_after` says when the next may come, in seconds."""

    code = "too_many_invoices"
    status = 429

    def __init__(self, *, most: int, retry_after: int) -> None:
        super().__init__(
            f"Este vendedor já enviou {most} notas fiscais em 24 horas, o máximo permitido. "
            f"Tente novamente em {retry_after} segundos"
        )
        self.retry_after = retry_after


class InvoiceStorageFull(IntegrationError):
    code = "invoice_storage_full"
    status = 409

    def __init__(self, *, most_mb: int) -> None:
        super().__init__(
            f"O espaço deste vendedor para notas fiscais ({most_mb} MB) está cheio e esta não foi salva. "
            "Peça a quem opera este serviço um limite maior"
        )


class InvoiceMissing(InvalidInvoice):
    code = "invoice_missing"
    message = "Envie exatamente um arquivo XML no campo nfe (multipart/form-data)"


class BodyTooLarge(IntegrationError):
    code = "body_too_large"
    status = 413
    message = "O corpo da requisição é grande demais"


class MalformedBody(IntegrationError):
    """Not a JSON object within bounds. The endpoint's own status for invalid payloads applies."""

    code = "malformed_body"


class SearchValueMissing(IntegrationError):
    code = "search_value_missing"
    status = 403
    message = "O parâmetro value é obrigatório"


class SellerNotFound(IntegrationError):
    code = "seller_not_found"
    status = 404


class InvalidDocument(IntegrationError):
    code = "invalid_document"


class CompanyTaken(IntegrationError):
    code = "company_taken"

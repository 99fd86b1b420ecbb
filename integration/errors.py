"""Domain errors of area B, each with a stable code. `api.problems` makes bodies of them.

`str(error)` is the message to the seller: the specification's where it prints one, otherwise also in Portuguese.
Messages to staff, from commands, are in English. `status` is the HTTP status by the specification's table.
"""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, TypeVar

from common.errors import DomainError

Each = TypeVar("Each")
MOST_NAMED = 10  # sellers, in the message of AmbiguousTrackingCode


class IntegrationError(DomainError):
    """Base of the errors of area B. `faults`: see `refuse`.

    `of_fields`: what is said of each of the `fields`, where the specification's message does not tell it.
    """

    of_fields: str = ""
    faults: "Mapping[str, IntegrationError]" = MappingProxyType({})


class KeyMissing(IntegrationError):
    """The call has no Authorization header, or one that holds no API key."""

    code = "key_missing"
    status = 401
    message = (
        "Chave ausente. Envie o cabeçalho Authorization: Basic <API_KEY>, com a chave sem aspas: ela começa com "
        "rota_key_ ou, no sandbox, com rota_testkey_"
    )


class InvalidKey(IntegrationError):
    """The API key is unknown or revoked."""

    code = "invalid_key"
    status = 401
    message = "Chave desconhecida. Copie-a inteira, sem aspas, ou emita outra no painel"
    of_revoked = "Esta chave foi revogada. Use outra, ou emita uma no painel"
    of_carrier = "Chave desconhecida. Copie-a inteira, sem aspas, ou peça outra a quem opera este serviço"
    of_revoked_carrier = "Esta chave foi revogada. Use outra, ou peça uma a quem opera este serviço"


class WrongKey(IntegrationError):
    """A valid key of a carrier where a seller's is needed, or the other way round. A subclass says which."""

    code = "wrong_key"
    status = 401
    meaning = "The key is valid but not for this call: a carrier's key reports events, and a seller's does not."
    remedy = "Send a key of the kind that the message names."


class CarrierKeySent(WrongKey):
    message = (
        "Esta é uma chave de transportadora, que só serve para POST /api/integration/carrier/events. Envie a chave de "
        "um vendedor, que começa com rota_key_ ou rota_testkey_"
    )


class SellerKeySent(WrongKey):
    message = (
        "Esta é uma chave de vendedor. Eventos são enviados com a chave de uma transportadora, que começa com "
        "rota_carrierkey_; peça uma a quem opera este serviço"
    )


class CarrierInactive(IntegrationError):
    """The carrier is not active: its keys are refused, none is issued, and no order is assigned to it."""

    code = "carrier_inactive"
    status = 401
    message = "Esta transportadora está inativa. Fale com quem opera este serviço"
    meaning = "The carrier of the key is not active."
    remedy = "Ask the operator of the service."


class RateLimited(IntegrationError):
    """A call over the limit of its key. `retry_after`: seconds until one is accepted."""

    code = "rate_limited"
    status = 429

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"Esta chave passou do seu limite de chamadas. Tente novamente em {retry_after} s")
        self.retry_after = retry_after


class ForeignCompany(IntegrationError):
    code = "foreign_company"
    status = 401
    message = "Request não altorizado"  # spelled so in the specification
    fields = ("company_document",)
    of_fields = (
        "Esta empresa não é do vendedor da chave. Use a chave do vendedor dela, ou envie o documento de uma empresa sua"
    )
    meaning = "company_document belongs to another seller than the key does."
    remedy = "Use the key of that seller, or a document of your own companies."


class AccountSuspended(IntegrationError):
    """The seller is suspended: its keys are refused and none is issued until the suspension is lifted."""

    code = "account_suspended"
    status = 401
    message = "A conta deste vendedor está suspensa. Fale com quem opera este serviço"


class TooManyKeys(IntegrationError):
    """The seller already has `keys.MOST_VALID` valid keys."""

    code = "too_many_keys"
    message = "O vendedor já tem o máximo de chaves válidas; revogue uma antes"


class CompanyNotFound(IntegrationError):
    code = "company_not_found"
    status = 404
    message = "Empresa não encontrada"
    fields = ("company_document",)
    of_fields = (
        "Nenhuma empresa tem este documento. Confira-o, ou peça a quem opera este serviço que cadastre a empresa"
    )
    meaning = "No company has this company_document."
    remedy = "Ask the operator of the service to register the company."


class InvalidDocument(CompanyNotFound):
    """Not a CNPJ or CPF with correct check digits, so that no company has it."""

    code = "invalid_document"
    of_fields = "Não é um CNPJ nem um CPF: o número de dígitos ou os dígitos verificadores não conferem"
    meaning = "company_document is neither a CNPJ nor a CPF: its length or its check digits are wrong."
    remedy = "Correct company_document."


class InvalidStatusReport(IntegrationError):
    """The reason, place or moment of a change does not fit it. `fault`: a key of MESSAGES; `field`: one of a body."""

    code = "invalid_status_report"
    status = 422
    message = "Dados inválidos"
    meaning = "The code, reason, place or moment does not fit the status; 'errors' names which."
    remedy = "Correct it: delivery_failed and returned have a reason and nothing else has one; OTHER needs a text."

    MESSAGES: ClassVar[dict[str, str]] = {
        "unknown_code": "code é um destes: %(codes)s.",
        "no_reason_here": "Um motivo só cabe em %(statuses)s.",
        "code_missing": "Diga por quê: code é um destes: %(codes)s; ou um texto em reason.",
        "text_missing": "O motivo OTHER precisa de um texto em reason.",
        "too_long": "%(field)s tem no máximo %(most)s caracteres.",
        "nul": "%(field)s tem um caractere NUL.",
        "moment_out_of_bounds": "occurredAt fica entre 30 dias atrás e agora.",
        "moment_before_the_last": "occurredAt é anterior ao último evento do pedido, de %(last)s.",
    }

    def __init__(self, fault: str, field: str, **values: object) -> None:
        super().__init__(self.MESSAGES[fault], field=field, **values)
        self.fault, self.fields = fault, (field,)


class DuplicateOrder(IntegrationError):
    """The seller already has an order with this code or this tracking code, which `fields` names."""

    code = "duplicate_order"
    status = 400
    message = "Este objeto já foi previamente cadastrado!"
    meaning = "Another order of yours has this orderId or trackingCode; 'errors' names which."
    remedy = (
        "Look the order up: it may be the one that you mean, and can be corrected by PATCH while it is pending. One "
        "that was cancelled before it was collected gives its numbers free. Send an Idempotency-Key to repeat calls "
        "safely."
    )

    def __init__(self, *fields: str) -> None:
        super().__init__()
        self.fields = fields


class FreightChanged(IntegrationError):
    """The freight is another one than a person has seen."""

    code = "freight_changed"
    message = "O frete mudou"


class CorrectedMeanwhile(IntegrationError):
    """The order was corrected after a person saw what is to be corrected."""

    code = "corrected_meanwhile"
    message = "O pedido foi corrigido por outra pessoa"


class OrderNotFound(IntegrationError):
    code = "order_not_found"
    status = 404
    message = "Objeto não encontrado neste vendedor e neste ambiente"
    meaning = "The seller of the key has no such order in the environment of the key."
    remedy = "Check the orderId, and whether the key is live or a test key: neither sees orders of the other."

    @classmethod
    def named(cls, code: str) -> "OrderNotFound":
        """Of one of several orders."""
        return cls(f"{cls.message}: '{code}'")


class UnknownTrackingCode(IntegrationError):
    """No order that the caller may move has the tracking code. `fault`: a key of MESSAGES, what was read instead."""

    code = "unknown_tracking_code"
    status = 200  # of the call, which answers each event
    MESSAGES: ClassVar[dict[str, str]] = {
        "unknown_tracking_code": "Nenhum pedido tem o código de rastreio '%(code)s'",
        "unknown_invoice_key": (
            "Nenhum pedido tem a NF-e '%(code)s'. Leia o código de rastreio ou o QR code da etiqueta"
        ),
        "ambiguous_invoice_key": (
            "Mais de um pedido tem a NF-e '%(code)s'. Leia o código de rastreio ou o QR code da etiqueta"
        ),
        "postcode_read": "'%(code)s' é um CEP. Leia o código de rastreio ou o QR code da etiqueta",
        "address_read": "O QR code '%(code)s' não é o de nenhum pedido. Leia o código de rastreio da etiqueta",
    }
    meaning = "Of an event: no order that is assigned to the carrier has its trackingCode."
    remedy = "Check the code, and ask the operator whether the order is assigned to you."

    def __init__(self, *, code: str, fault: str = "unknown_tracking_code") -> None:
        super().__init__(self.MESSAGES[fault], code=code)
        self.fault = fault


class AmbiguousTrackingCode(IntegrationError):
    """Several orders have the tracking code. `sellers`: reference and name of their sellers, of some if `has_more`.

    The message has the references of the first ten.
    """

    code = "ambiguous_tracking_code"
    status = 200
    message = "Mais de um pedido tem o código de rastreio '%(code)s'. Envie também seller: %(references)s"
    meaning = "Of an event: several orders have its trackingCode; the message has their sellers' references."
    remedy = "Send the reference of its seller as seller, and the code as the label has it."

    def __init__(self, *, code: str, sellers: Sequence[tuple[str, str]], has_more: bool = False) -> None:
        named = [reference for reference, _name in sellers[:MOST_NAMED]]
        more = ["…"] if has_more or len(sellers) > len(named) else []
        super().__init__(self.message, code=code, references=", ".join(named + more))
        self.sellers, self.has_more = sellers, has_more


class EventIdReused(IntegrationError):
    """The source has used this id for an event that says something else."""

    code = "event_id_reused"
    status = 200
    message = "O eventId '%(event_id)s' já foi usado para um evento que diz outra coisa"
    meaning = "Of an event: an earlier one had its eventId and said something else. It was not recorded."
    remedy = "Give each event an id of its own, and use one again only to repeat the event."


class MoveRefused(IntegrationError):
    """`lifecycle.TABLE` does not allow this change of status."""

    code = "move_refused"
    status = 422
    message = "De %(current)s não se passa a %(target)s. Possíveis agora: %(possible)s."


class AlreadyDelivered(MoveRefused):
    code = "already_delivered"
    status = 400
    message = "Este objeto já foi entregue e não pode ser cancelado"
    meaning = "The order was delivered and cannot be cancelled."
    remedy = "Nothing."


class AlreadyCancelled(MoveRefused):
    code = "already_cancelled"
    status = 400
    message = "Este objeto já foi cancelado"
    meaning = "The order is cancelled already."
    remedy = "Nothing."


class SandboxOnly(IntegrationError):
    """Calling with a live key what only test keys may, or moving a live order as simulated ones are moved."""

    code = "sandbox_only"
    status = 404
    message = "Só chaves de teste, que começam com rota_testkey_, podem fazer esta chamada"


class InvalidSandboxSpeed(IntegrationError):
    code = "invalid_sandbox_speed"
    message = "O cabeçalho Sandbox-Speed é um número de 1 a 120"


class TooManySimulations(IntegrationError):
    """The simulated carrier moves `common.simulation.rows.MOST` orders of the seller already."""

    code = "too_many_simulations"
    status = 429
    retry_after = 60
    message = (
        "A transportadora simulada já move 2.000 pedidos deste vendedor, o máximo de uma vez. Tente novamente quando "
        "outros tiverem terminado"
    )


class OrdersRefused(IntegrationError):
    """Orders of one call are refused for different reasons."""

    code = "orders_refused"
    message = "%(count)s pedidos foram recusados, por motivos diferentes; errors tem o de cada um"
    meaning = (
        "Orders of the call are refused for different reasons; 'errors' has that of each, by its place in orderIds."
    )
    remedy = "Leave these orders out, or correct what 'errors' says. Nothing was done for the others of the call."


class OrderCancelled(IntegrationError):
    """The order with this code is cancelled, so that it gets no label and stands in no manifest."""

    code = "order_cancelled"
    status = 409
    message = "O pedido '%(order)s' está cancelado"
    meaning = "The order that the message names is cancelled: it gets no label and cannot be handed over."
    remedy = "Leave it out."


class OrderForgotten(IntegrationError):
    """The receiver of the order with this code is anonymised."""

    code = "order_forgotten"
    status = 409
    message = "O destinatário do pedido '%(order)s' foi anonimizado; não há endereço para a etiqueta"
    of_correction = "O destinatário do pedido '%(order)s' foi anonimizado, e o pedido não pode mais ser corrigido"
    meaning = (
        "The receiver of the order that the message names is anonymised: there is no address for a label, and the "
        "order cannot be corrected."
    )
    remedy = "Leave it out."


class TooManyLabels(IntegrationError):
    code = "too_many_labels"
    status = 409
    message = "São mais de %(most)s volumes, o máximo de etiquetas em um arquivo"
    meaning = "The orders have more volumes than a file of labels may have."
    remedy = (
        "Ask for the labels of fewer orders at a time. One order alone has too many only if it is older than the key "
        "volumes, when each unit of its items was one: correct it, by PATCH with volumes."
    )


class ManifestNotFound(IntegrationError):
    code = "manifest_not_found"
    status = 404
    message = "Romaneio não encontrado neste vendedor e neste ambiente"
    meaning = "The seller of the key has no such manifest in the environment of the key."
    remedy = "Check the manifestId."


class InOpenManifest(IntegrationError):
    code = "in_open_manifest"
    status = 409
    message = "O pedido '%(order)s' já está no romaneio aberto %(manifest)s"
    meaning = "An order stands in an open manifest already; the message names both."
    remedy = "Close that manifest, or remove the order from it."


class OrderNotPending(IntegrationError):
    code = "order_not_pending"
    status = 409
    message = "O pedido '%(order)s' não está mais à espera de coleta: está em %(status)s"
    meaning = "An order is collected or cancelled already; the message names it and its status."
    remedy = "Leave it out: only orders that wait for collection (pending) can be handed over or corrected."


class ManifestClosed(IntegrationError):
    code = "manifest_closed"
    status = 409
    message = "Este romaneio está fechado e não muda mais"
    meaning = "The manifest is closed and cannot be changed or deleted."
    remedy = "Nothing."


class ManifestEmpty(IntegrationError):
    code = "manifest_empty"
    status = 409
    message = "Este romaneio não tem nenhum pedido; exclua-o"
    meaning = "The manifest to be closed has no order: they were removed or cancelled."
    remedy = "Delete it."


class ManifestFull(IntegrationError):
    code = "manifest_full"
    status = 409
    message = "Um romaneio tem no máximo %(most)s pedidos"
    meaning = "With these orders the manifest would have more than it may; the message says how many that is."
    remedy = "Open another manifest."


class NoCoverage(IntegrationError):
    code = "no_coverage"
    status = 400
    message = "Região sem cobertura"
    meaning = "The postcode is assigned to no region, or the tariff has no rate for the two regions."
    remedy = "Check the postcodes."


class TooHeavy(NoCoverage):
    code = "too_heavy"
    meaning = "The weight is over the maximum of the freight tariff."
    remedy = "Send kilograms, not grams. Split what is heavier."


class InvalidInvoice(IntegrationError):
    code = "invalid_invoice"
    fields = ("nfe",)
    message = "O arquivo não é um XML de NF-e válido"
    meaning = "The file is not an NF-e; the message says why."
    remedy = "Send the signed XML."


class InvoiceNotFound(IntegrationError):
    code = "invoice_not_found"
    status = 404
    message = "Nota fiscal não encontrada neste vendedor e neste ambiente"
    meaning = "The seller of the key has no invoice with this access key in the environment of the key."
    remedy = "Upload the invoice, or check the access key."


class VoidInvoice(IntegrationError):
    code = "void_invoice"
    status = 409
    message = "A nota fiscal foi denegada ou cancelada, e não é vinculada a pedidos"
    meaning = "The invoice was denied or cancelled, so that no order is linked to it."
    remedy = "Link the invoice that was issued in its place."


class InvoiceUnreferenced(InvalidInvoice):
    code = "invoice_unreferenced"
    message = (
        "A nota fiscal não traz número de pedido (xPed) e nenhum pedido tem a sua chave de acesso. Ponha o orderId em "
        "xPed, ou a chave em invoice.key do pedido"
    )
    meaning = "The NF-e has no xPed, and no order of the seller names its access key."
    remedy = "Put the orderId into xPed, or the access key into the order's invoice.key."


class TooManyInvoices(IntegrationError):
    code = "too_many_invoices"
    status = 429
    meaning = "The seller has sent as many new invoices in 24 hours as it may."
    remedy = "Send the next after the seconds in Retry-After."

    def __init__(self, *, most: int, retry_after: int) -> None:
        super().__init__(
            f"Este vendedor já enviou {most} notas fiscais em 24 horas, o máximo permitido. "
            f"Tente novamente em {retry_after} segundos"
        )
        self.retry_after = retry_after


class InvoiceStorageFull(IntegrationError):
    code = "invoice_storage_full"
    status = 409
    meaning = "The space for the seller's invoices is full, and this one was not stored."
    message = (
        "O espaço deste vendedor para notas fiscais (%(most_mb)s MB) está cheio e esta não foi salva. "
        "Peça a quem opera este serviço um limite maior"
    )
    remedy = "Ask the operator of the service for more."


class InvoiceMissing(InvalidInvoice):
    code = "invoice_missing"
    message = "Envie exatamente um arquivo XML no campo nfe (multipart/form-data)"
    meaning = "The request is not a form with exactly one file in the field nfe."
    remedy = "Send multipart/form-data with one file in the field nfe."


class BodyTooLarge(IntegrationError):
    """The body is over its limit of bytes."""

    code = "body_too_large"
    status = 413
    message = "O corpo da requisição é grande demais"


class InvoiceTooLarge(BodyTooLarge):
    """An invoice has at most 2 MiB (`nfe.MAX_BYTES`)."""

    message = "O arquivo é maior que 2 MiB"


class MalformedBody(IntegrationError):
    """The body is not a JSON object, or nested too deep. The endpoint's status for an invalid payload applies."""

    code = "malformed_body"


class InvalidIdempotencyKey(IntegrationError):
    """The header Idempotency-Key is empty, longer than 255 characters, or not printable ASCII."""

    code = "invalid_idempotency_key"
    message = "O cabeçalho Idempotency-Key deve ter de 1 a 255 caracteres ASCII imprimíveis, como um UUID"


class IdempotencyKeyReused(IntegrationError):
    """The Idempotency-Key was used within 24 hours for an order that was made from another body."""

    code = "idempotency_key_reused"
    message = (
        "Um pedido foi criado com esta Idempotency-Key nas últimas 24 horas, a partir de outro corpo. Use uma chave "
        "nova para cada pedido e a mesma só para repetir a chamada sem mudanças"
    )


class CallInProgress(IntegrationError):
    """A call with the same Idempotency-Key has not ended within ten seconds."""

    code = "call_in_progress"
    status = 409
    message = "A primeira chamada com esta Idempotency-Key ainda não terminou. Repita-a sem mudanças"
    retry_after = 5


class SearchValueMissing(IntegrationError):
    code = "search_value_missing"
    status = 403
    message = "O parâmetro value é obrigatório"
    meaning = "The tracking query has no value."
    remedy = "Send value, the number of the order or the receiver's document, and type: order_number or document."


class ConnectionNotFound(IntegrationError):
    """Posting to an address that no connected shop has, perhaps not any more."""

    code = "connection_not_found"
    status = 404
    message = "Nenhuma loja está conectada neste endereço. O painel mostra o de cada uma na página 'Conectar uma loja'"


class InvalidSignature(IntegrationError):
    """Posting an order without the platform's signature, or with a wrong one. Nothing is written."""

    code = "invalid_signature"
    status = 401
    message = "O cabeçalho %(header)s não é a assinatura deste corpo com o segredo da conexão"
    example = "O cabeçalho X-WC-Webhook-Signature não é a assinatura deste corpo com o segredo da conexão"


class UnknownOrderForm(IntegrationError):
    """Posting, with the right signature, what is not an order of the platform."""

    code = "unknown_form"
    status = 422
    message = "Este corpo não é um pedido no formato de %(platform)s. Falta: %(missing)s"
    example = "Este corpo não é um pedido no formato de Yampi. Falta: resource.id"


class TooManyConnections(IntegrationError):
    """Connecting a shop of a seller that has as many as it may have."""

    code = "too_many_connections"
    message = "Um vendedor tem no máximo %(most)s lojas conectadas"


class InvalidSecret(IntegrationError):
    """Connecting a shop with an empty secret, or one that is too long."""

    code = "invalid_secret"
    message = "Um segredo tem de 1 a %(most)s caracteres"


class DraftEnded(IntegrationError):
    """Making or dropping an order of a shop that is made or dropped already."""

    code = "draft_ended"
    message = "Este pedido da loja não está mais aberto: alguém já o criou ou descartou"


class DraftChanged(IntegrationError):
    """Making an order of a shop that has changed since a person saw it."""

    code = "draft_changed"
    message = "Este pedido mudou nesse meio-tempo"


class DraftIncomplete(IntegrationError):
    """Making an order of a shop of which something is missing."""

    code = "draft_incomplete"
    message = "Falta alguma coisa neste pedido da loja"


class SellerNotFound(IntegrationError):
    """No seller has the id or reference given to a command."""

    code = "seller_not_found"


class CarrierNotFound(IntegrationError):
    """No carrier has the id given to a command."""

    code = "carrier_not_found"


class CompanyTaken(IntegrationError):
    """Another company already has this document."""

    code = "company_taken"


def by_path(orders: Sequence[Each]) -> list[tuple[str, Each]]:
    """The orders of a call, each with its path in the body."""
    return [(f"orderIds.{place}", order) for place, order in enumerate(orders)]


def refuse(faults: Mapping[str, IntegrationError]) -> None:
    """Raise all that is wrong with a call about several things, by the path of each in its body: `orderIds.2`.

    Does nothing without a fault. The error has them as `faults`. Faults with one code are answered as the first of them
    alone would be; of several codes OrdersRefused is raised.
    """
    if not faults:
        return
    first, *others = faults.values()
    is_one_kind = all(other.code == first.code for other in others)
    error = first if is_one_kind else OrdersRefused(count=len(faults))
    error.faults = faults
    raise error

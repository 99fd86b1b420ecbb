"""Refusals of changes of webhook endpoints, and of sending their events. Area A's answers need `title`."""

from common.errors import DomainError


class EndpointCannotSend(DomainError):
    """Sending a test event, or replaying events, that the endpoint's state or the hourly limit does not allow."""

    code = "endpoint_cannot_send"
    title = "Nothing can be sent to this endpoint now"


class TooManyEndpoints(DomainError):
    """Adding a webhook endpoint when the owner has five in the environment."""

    code = "too_many_endpoints"
    title = "The account has as many webhook endpoints as it may have"


class EndpointStays(DomainError):
    """Removing the first webhook endpoint, which every owner has."""

    code = "endpoint_stays"
    title = "The first endpoint cannot be removed"


class SecretRotatedLately(DomainError):
    """Rotating a signing secret while the one before it still signs too."""

    code = "secret_rotated_lately"
    title = "The secret before this one still signs"


class InvalidAuthentication(DomainError):
    """Setting what webhooks carry beside their signature to something that no header can hold. `fields` says what."""

    code = "invalid_authentication"
    title = "The authentication cannot be used"

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.fields = (field,) if field else ()

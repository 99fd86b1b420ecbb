"""What the form of a new account and the page of its set-up share: adding a pickup point, tokens and the URL."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest

from common import clock
from common.actors import actor
from delivery.actions import endpoints, tokens
from delivery.errors import InvalidWebhookUrl
from delivery.models import Environment, Integrator, PickupPoint, WebhookEvent
from delivery.refusals import refusal

# Session key of the ids of the tokens whose clear text the access sheet shows, once.
ISSUED = "tokens_of_sheet"


def checked_url(form: Any) -> endpoints.CheckedUrl | None:
    """The form's webhook URL if webhooks may be sent to it; otherwise None, and the form says why not."""
    try:
        return endpoints.check_url(form.cleaned_data["url"])
    except InvalidWebhookUrl as error:
        form.add_error("url", refusal(error))
        return None


def add_place(account: Integrator, form: Any) -> None:
    """Add the form's place, if it has one, as a pickup point."""
    if point := form.cleaned_data["position"]:
        name = form.cleaned_data["place_name"] or account.name
        PickupPoint.objects.create(integrator=account, name=name, latitude=point.latitude, longitude=point.longitude)


def issue_tokens(account: Integrator, request: HttpRequest) -> None:
    """Issue a token for each environment that has none. The next access sheet shows them. Raises TooManyTokens."""
    by, at = actor(request), clock.now()
    missing = [each for each in Environment if not account.tokens.filter(environment=each).valid(at=at).exists()]
    issued = [tokens.issue(integrator=account, environment=each, by=by, at=at) for each in missing]
    request.session[ISSUED] = [*request.session.get(ISSUED, []), *(str(token.pk) for token in issued)]


def store_url(account: Integrator, url: endpoints.CheckedUrl, *, by: str, at: datetime) -> WebhookEvent:
    """Set the URL of both environments, and send a test event to that of the sandbox. Raises EndpointCannotSend."""
    for endpoint in account.endpoints.all():
        endpoints.store_url(endpoint=endpoint, url=url, by=by, at=at)
    sandbox = account.endpoints.get(environment=Environment.SANDBOX)
    return endpoints.send_test(endpoint=sandbox, by=by, at=at)

"""Template filters for webhook events and their attempts."""

from http import HTTPStatus
from typing import Any

from django import template
from django.template.defaultfilters import date
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.text import Truncator
from django.utils.translation import gettext_lazy as _

from common import clock
from common.brazil.formats import ahead
from common.webhooks import signing
from common.webhooks.models import Attempt, Endpoint, Event, EventState
from common.webhooks.outbox import outbox_of
from panel.attention import Notice
from panel.templatetags.panel import error_name

register = template.Library()
_MOST_OF_ANSWER = 60  # characters


@register.simple_tag(takes_context=True)
def endpoint_url(context: dict[str, Any], page: str, *arguments: Any) -> str:
    """The address of a page of the endpoint that this page is about."""
    return url_of_endpoint(context, context["endpoint"], page, *arguments)


@register.simple_tag(takes_context=True)
def url_of_endpoint(context: dict[str, Any], endpoint: Endpoint, page: str, *arguments: Any) -> str:
    """As `endpoint_url`, of this endpoint of the same account or seller."""
    return _url(context, page, *endpoint.url_arguments, *arguments)


@register.simple_tag(takes_context=True)
def owner_url(context: dict[str, Any], page: str, *arguments: Any) -> str:
    """The address of a page of the account, or of the seller, in the environment that this page is about."""
    owner = context.get("account") or context["seller"]
    return _url(context, page, owner.pk, context["environment"], *arguments)


@register.simple_tag(takes_context=True)
def notice_url(context: dict[str, Any], notice: Notice) -> str:
    """The address of the page that a notice leads to."""
    return owner_url(context, notice.page, *([notice.number] if notice.number > 1 else []))


def _url(context: dict[str, Any], page: str, *arguments: Any) -> str:
    prefix = "" if context.get("account") else "seller_"
    return reverse(f"panel:{prefix}{page}", args=arguments)


@register.filter
def next_attempt(event: Event, endpoint: Endpoint) -> Any:
    """When an event is sent next, in words or as the time until then; empty for one that has ended."""
    if event.state != EventState.PENDING:
        return ""
    due_at = event.next_attempt_at
    if due_at is None:
        return _("after an earlier event")
    if not endpoint.enabled or not endpoint.url:
        return _("when resumed")
    due_at = max(due_at, endpoint.paused_until or due_at)
    return ahead(due_at) if due_at > clock.now() else _("now")


@register.filter
def answer(attempt: Attempt) -> SafeString:
    """The status or the class of the error of an attempt as a badge, coloured by success."""
    colour = "good" if attempt.succeeded else "bad"
    title = "" if attempt.status_code else error_name(attempt.error)
    text = attempt.status_code or attempt.error
    return format_html('<span class="badge {}" title="{}">{}</span>', colour, title, text)


@register.filter
def answer_name(attempt: Attempt) -> str:
    """The status of an attempt with its name, as HTTP has it, such as `500 Internal Server Error`; else its error."""
    phrase = _phrase(attempt)
    return f"{attempt.status_code} {phrase}" if phrase else str(attempt.status_code or error_name(attempt.error))


def _phrase(attempt: Attempt) -> str:
    """The name that HTTP has for the status; empty without an answer, and for a status without a name."""
    try:
        return HTTPStatus(attempt.status_code or 0).phrase
    except ValueError:
        return ""


@register.filter
def gist(attempt: Attempt) -> str:
    """What a failed attempt was answered, in a line: the first words, or of a page of HTML the name of the status."""
    words = attempt.response_start.strip()
    if words and not words.startswith("<"):
        return Truncator(words).chars(_MOST_OF_ANSWER)
    return _phrase(attempt) or str(error_name(attempt.error))


@register.filter
def span(run: list[Attempt]) -> str:
    """From when until when attempts were made, the newest being the first: `26/11/2026 10:02 - 14:30`."""
    start = timezone.localtime(run[-1].at)
    end = timezone.localtime(run[0].at)
    last = f"{end:%H:%M}" if start.date() == end.date() else date(end, "SHORT_DATETIME_FORMAT")
    return f"{date(start, 'SHORT_DATETIME_FORMAT')} \N{EN DASH} {last}"


@register.filter
def request_head(attempt: Attempt, event: Event) -> str:
    """The request line and the headers that were sent, with the token masked; empty when they were not stored."""
    if attempt.webhook_timestamp is None:
        return ""
    headers = signing.headers(
        authorization=event.endpoint.shown_authorization(attempt.token_hint) | event.own_headers,
        webhook_id=str(event.webhook_id),
        timestamp=attempt.webhook_timestamp,
        signature=attempt.signature,
        sequence=event.sequence,
        is_test=event.is_test,
        about=outbox_of(type(event)).headers_about(event.subject_id),
    )
    return "\n".join([f"POST {attempt.url}", *(f"{name}: {value}" for name, value in headers.items())])


_STATUS_ADVICE: dict[int, Any] = {
    400: _("Your server could not read the event. Its log says why."),
    401: _("Your server did not accept the token or the signature. Check that it verifies with the current secret."),
    403: _("Your server refused the request. Check that it, or a firewall before it, lets these requests through."),
    404: _("Your server has nothing at this address. Check the path of the URL."),
    405: _("Your server takes no POST at this address. Check the path of the URL."),
    410: _("Your server said that this address is gone for good, so webhooks were switched off. Save the new URL."),
    413: _("Your server refused the size of the body. Raise the limit of it, or of a proxy before it."),
    422: _("Your server read the event and refused its content. Its log says why."),
    429: _("Your server asked for fewer requests. Events are sent more slowly; nothing is lost."),
}


@register.filter
def advice(attempt: Attempt) -> Any:
    """What a failed attempt means, and what to do about it."""
    status = attempt.status_code
    if status is None:
        return error_name(attempt.error)
    if status in _STATUS_ADVICE:
        return _STATUS_ADVICE[status]
    if 300 <= status < 400:  # noqa: PLR2004  # the class 3xx
        return _("Your server redirected the request, which is not followed. Save the address it redirects to.")
    if status >= 500:  # noqa: PLR2004  # the class 5xx
        return _("Your server had an error. Look into its log at this time, then try again.")
    return _("Your server refused the event. Any answer other than 2xx counts as a failure.")

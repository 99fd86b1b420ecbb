"""Posts texts to chats, each by the plug-in of Apprise for its service.

Addresses are matched here as a whole, and plug-ins get their tokens alone. Apprise's own parser also takes options from
an address, such as `verify=no` and a file as `template`, and splits a text at commas and blanks into several addresses.

A plug-in is imported when it posts first, so only workers that post to its service have it in memory.
"""

import importlib
import logging
import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from common.workers.deadlines import BoundedCalls

_log = logging.getLogger(__name__)
MOST = 40  # posts in one process, with those that have not returned after their deadline
SECONDS = 15
_calls = BoundedCalls(most=MOST, seconds=SECONDS)

_LONGEST = 2000
_KEY = r"[A-Za-z0-9_-]{1,128}"
_TOKEN = r"(?:[A-Za-z0-9_-]|%3D){1,256}"  # noqa: S105  # nosec B105  # a pattern
_MICROSOFT = r"(?P<host>[a-z0-9.-]{1,200}\.(?:logic\.azure|(?P<power_automate>powerplatform))\.com)(?::443)?"
_ADDRESSES = (
    (
        "Slack",
        re.compile(
            r"(?:slack://|https://hooks\.slack\.com/services/)"
            r"(?P<token_a>[A-Z0-9]{1,40})/(?P<token_b>[A-Z0-9]{1,40})/(?P<token_c>[A-Za-z0-9]{1,80})/?"
        ),
    ),
    (
        "Discord",
        re.compile(
            r"(?:discord://|https://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/)"
            rf"(?P<webhook_id>[0-9]{{1,32}})/(?P<webhook_token>{_KEY})/?"
        ),
    ),
    (
        "Telegram",
        re.compile(
            rf"tgram://(?P<bot_token>[0-9]{{1,20}}:{_KEY})/"
            r"(?P<targets>(?:-?[0-9]{1,32}|@?[A-Za-z][A-Za-z0-9_]{1,31})(?::[0-9]{1,10})?)/?"
        ),
    ),
    (
        "Google Chat",
        re.compile(rf"gchat://(?P<workspace>{_KEY})/(?P<webhook_key>{_KEY})/(?P<webhook_token>{_TOKEN})/?"),
    ),
    (
        "Google Chat",
        re.compile(
            rf"https://chat\.googleapis\.com/v1/spaces/(?P<workspace>{_KEY})/messages"
            rf"\?key=(?P<webhook_key>{_KEY})&token=(?P<webhook_token>{_TOKEN})"
        ),
    ),
    ("Teams", re.compile(rf"workflows://{_MICROSOFT}/(?P<workflow>{_KEY})/(?P<signature>{_KEY})/?")),
    (
        "Teams",
        re.compile(
            rf"https://{_MICROSOFT}(?:/powerautomate/automations/direct(?:/cu/(?P<routing_id>[0-9]{{1,10}}))?)?"
            rf"/workflows/(?P<workflow>{_KEY})/triggers/manual/paths/invoke\?api-version=(?P<version>[0-9a-z-]{{1,32}})"
            rf"&sp=%2Ftriggers%2Fmanual%2Frun&sv=1\.0&sig=(?P<signature>{_KEY})"
        ),
    ),
)
# The module and the class of each plug-in, and what it is told beside the tokens.
_PLUGINS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Slack": (
        "slack",
        "NotifySlack",
        {"include_footer": False, "include_image": False, "include_timestamp": False},
    ),
    "Discord": ("discord", "NotifyDiscord", {"avatar": False}),
    "Telegram": ("telegram", "NotifyTelegram", {"detect_owner": False}),
    "Google Chat": ("google_chat", "NotifyGoogleChat", {}),
    "Teams": ("workflows", "NotifyWorkflows", {"include_image": False}),
}
SERVICES = tuple(_PLUGINS)
SCHEMES = ("slack://", "discord://", "tgram://", "gchat://", "workflows://")


@dataclass(frozen=True)
class Chat:
    """A channel of a service, given by what its address holds."""

    service: str
    tokens: dict[str, str]

    async def post(self, text: str) -> bool:
        """Whether the service has taken the text within SECONDS. One that is too long for it becomes several posts."""
        try:
            return await _calls.wait(lambda: self._post(text))
        except Exception as error:  # noqa: BLE001  # of the plug-in too; its message can hold the address
            _log.warning("post to %s: %s", self.service, type(error).__name__)
            return False

    def _post(self, text: str) -> bool:
        module, name, options = _PLUGINS[self.service]
        plugin = getattr(importlib.import_module(f"apprise.plugins.{module}"), name)
        asset = importlib.import_module("apprise.asset").AppriseAsset(app_id="Rota")
        sender = plugin(**self.tokens, **options, asset=asset, verify=True, redirect=False)
        sender.throttle = _do_not_wait
        return bool(sender.notify(body=unaddressed(text), body_format="text", overflow="split"))


def chat_of(url: str) -> Chat | None:
    """The chat whose address `url` is, or None."""
    if len(url) > _LONGEST:
        return None
    for service, address in _ADDRESSES:
        if found := address.fullmatch(url):
            tokens = {key: unquote(value) for key, value in found.groupdict().items() if value is not None}
            return Chat(service, tokens)
    return None


def unaddressed(text: str) -> str:
    """`text` in which no name, such as an account's, notifies anybody: `@everyone`, `<!channel>`, `<users/all>`.

    A zero width space follows each sign that begins such a mention. Plug-ins escape no more than some of them.
    """
    return text.replace("@", "@\u200b").replace("<", "<\u200b")


def _do_not_wait(**_why: object) -> None:
    """In place of a plug-in's pauses between requests. What was refused is tried again as every post is."""

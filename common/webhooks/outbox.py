"""What the sending engine knows of an area: its tables, and what only the area can say of an event."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias
from uuid import UUID

from common.compiled_queries import CompiledQuery, Parameter
from common.fields import any_of
from common.page_updates import Message
from common.webhooks.models import Attempt, Endpoint, Event, QueueItem

# The id of an item and the lease under which it was claimed.
LeaseKey: TypeAlias = tuple[int, UUID]


class ClaimedItem(NamedTuple):
    """A queue item that this process may send, with its event.

    The fields are the columns that `claims` reads, in the same order.
    """

    item_id: int
    lease: UUID
    event_id: UUID
    endpoint_id: int
    subject_id: Any  # None for a test event
    sequence: int
    body: str
    trace_context: str = ""
    copy_of: UUID | None = None

    @property
    def webhook_id(self) -> UUID:
        """See `Event.webhook_id`."""
        return self.copy_of or self.event_id

    @property
    def key(self) -> LeaseKey:
        return self.item_id, self.lease

    @property
    def is_test(self) -> bool:
        return self.subject_id is None


@dataclass(frozen=True)
class Authorization:
    """The header by which an endpoint recognises the sender, if it asks for one.

    `secrets` are not stored where an answer repeats them; `hint` is stored in the attempt, at most 20 characters.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Sequence[str] = ()
    hint: str = ""


class NotSendable(Exception):
    """The event cannot be sent now, for a reason on our side, whose code is the text: `no_valid_token`."""


# The authorization of one of the items. Raises NotSendable, or InvalidToken of cryptography where it is unreadable.
Authorize: TypeAlias = Callable[[ClaimedItem], Authorization]


@dataclass(frozen=True, eq=False)
class Outbox:
    """The tables of one area, and what the engine asks of it.

    `subject` is the field of events and queue items for the row that events are about: each endpoint receives those of
    one subject in order. `task` is the name of the Celery task that wakes the sender. `authorizations` is called once
    for the items of a claim, with their endpoints by id and the moment, and reads what it needs for all of them
    together. `messages` makes the messages to open pages about events, given as their endpoints and ids.

    Whether an endpoint was switched off is seen in its row: `Endpoint.off_because`.
    """

    endpoints: type[Endpoint]
    events: type[Event]
    items: type[QueueItem]
    attempts: type[Attempt]
    subject: str
    task: str
    authorizations: Callable[[Sequence[ClaimedItem], Mapping[int, Any], datetime], Authorize]
    messages: Callable[[Iterable[tuple[int, UUID]]], list[Message]]

    def sql(self, statement: str) -> str:
        """A statement with the names of the tables `{endpoints}` and so on, and of the column `{subject_id}`."""
        return _named(self, statement)

    def subject_of(self, event: Event) -> Any:
        """The key of the row that the event is about; None for a test event."""
        return getattr(event, self._subject_id)

    def endpoints_by_id(self, ids: Iterable[int]) -> list[Any]:
        return self._endpoints_by_id.all(ids=list(ids))

    @cached_property
    def _subject_id(self) -> str:
        return str(self.items._meta.get_field(self.subject).attname)  # type: ignore[union-attr]  # a foreign key

    @cached_property
    def _endpoints_by_id(self) -> CompiledQuery[Any]:
        endpoints = self.endpoints._default_manager
        return CompiledQuery(lambda: endpoints.filter(any_of("pk", Parameter("ids"))).order_by())


@cache
def _named(outbox: Outbox, statement: str) -> str:
    models = {name: getattr(outbox, name) for name in ("endpoints", "events", "items", "attempts")}
    tables = {name: model._meta.db_table for name, model in models.items()}
    return statement.format(subject_id=outbox._subject_id, **tables)  # noqa: SLF001  # of this module

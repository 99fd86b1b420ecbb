"""What the sending engine knows of an area: its tables, and what only the area can say of an event."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from typing import Any, NamedTuple, Protocol, TypeAlias
from uuid import UUID

from django.db.models import Model

from common.fields import any_of
from common.pages.page_updates import Message, grouped
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.webhooks.models import Event, QueueItem

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

    `secrets` are not stored where an answer repeats them; `hint` is stored in the attempt.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: Sequence[str] = ()
    hint: str = ""


class NotSendable(Exception):
    """The event cannot be sent now, for a reason on our side, whose code is the text: `no_valid_token`."""


# The authorization of one of the items. Raises NotSendable, or InvalidToken of cryptography where it is unreadable.
Authorize: TypeAlias = Callable[[ClaimedItem], Authorization]


class RecordRest(Protocol):
    """Writes events that the area records only when somebody wants those of the endpoint.

    Of some subjects with changes from `since` on; of those with these keys alone, if any are given. Returns of how
    many.
    """

    def __call__(self, endpoint: Any, since: datetime, subjects: Collection[Any] | None = None, /) -> int: ...


def _nothing(_endpoint: Any, _since: datetime, _subjects: Collection[Any] | None = None, /) -> int:
    return 0


@dataclass(frozen=True, eq=False)
class Outbox:
    """The tables of one area, and what the engine asks of it.

    `audit` is the table of changes of the endpoints' owners: the owner, `environment`, `action`, `subject`, `by`, `at`.
    `task` is the name of the Celery task that wakes the sender. `topic` begins the topics of page updates about
    endpoints and their events. `test_event` has the status and the body of test events. `authorizations` is called once
    for the items of a claim, with their endpoints by id and the moment, and reads what it needs for all of them
    together. `check_authorization` raises EndpointCannotSend if a request to the endpoint could not be authorized now.
    `missed_task` is the name of the task that calls `replays.send_missed`.
    `subject_headers` has the headers of the area's own for events about a subject, given by its key.

    Whether an endpoint was switched off is seen in its row: `Endpoint.off_because`.
    """

    # The area's classes of Endpoint, Event, QueueItem and Attempt, which add foreign keys.
    endpoints: Any
    events: Any
    items: Any
    attempts: Any
    audit: type[Model]
    task: str
    missed_task: str
    topic: str
    test_event: tuple[str, str]
    authorizations: Callable[[Sequence[ClaimedItem], Mapping[int, Any], datetime], Authorize]
    check_authorization: Callable[[Any, datetime], None] = lambda _endpoint, _at: None
    record_rest: RecordRest = _nothing
    subject_headers: Callable[[Any], Mapping[str, str]] = lambda _subject_id: {}

    def __post_init__(self) -> None:
        _OF_MODELS.update({self.endpoints: self, self.events: self})

    @property
    def subject(self) -> str:
        """The field of events and queue items for the row that events are about."""
        subject: str = self.events.SUBJECT
        return subject

    def headers_about(self, subject_id: Any) -> Mapping[str, str]:
        """The headers of the area's own, none for a test event, whose subject is None."""
        return {} if subject_id is None else self.subject_headers(subject_id)

    def topic_of(self, endpoint_id: int) -> str:
        """The topic of page updates about an endpoint and its events.

        The ids in messages are `event:<id>` (an attempt was made, or it is sent again) and `endpoint` (its URL or
        state).
        """
        return f"{self.topic}:{endpoint_id}"

    def messages(self, events: Iterable[tuple[int, UUID]]) -> list[Message]:
        """Messages to open pages about events, given as their endpoints and ids."""
        return grouped((self.topic_of(endpoint_id), f"event:{event_id}") for endpoint_id, event_id in events)

    def endpoint_changed(self, endpoint_id: int) -> Message:
        return Message(self.topic_of(endpoint_id), ["endpoint"])

    def sql(self, statement: str) -> str:
        """A statement with the names of the tables `{endpoints}` and so on, and of the column `{subject_id}`."""
        return _named(self, statement)

    def subject_and_endpoint(self, row: Event | QueueItem) -> tuple[Any, int]:
        """The keys of both."""
        return getattr(row, self._subject_id), row.endpoint_id

    def endpoints_by_id(self, ids: Iterable[int]) -> list[Any]:
        return self._endpoints_by_id.all(ids=list(ids))

    @cached_property
    def _subject_id(self) -> str:
        return str(self.items._meta.get_field(self.subject).attname)

    @cached_property
    def _endpoints_by_id(self) -> CompiledQuery[Any]:
        endpoints = self.endpoints._default_manager
        return CompiledQuery(lambda: endpoints.filter(any_of("pk", Parameter("ids"))).order_by())


_OF_MODELS: dict[type[Model], Outbox] = {}


def outboxes() -> list[Outbox]:
    """Those of all areas."""
    return list(dict.fromkeys(_OF_MODELS.values()))


def outbox_of(model: type[Model]) -> Outbox:
    """The outbox with this model of endpoints or events."""
    return _OF_MODELS[model]


@cache
def _named(outbox: Outbox, statement: str) -> str:
    models = {name: getattr(outbox, name) for name in ("endpoints", "events", "items", "attempts")}
    tables = {name: model._meta.db_table for name, model in models.items()}
    return statement.format(subject_id=outbox._subject_id, **tables)  # noqa: SLF001  # of this module

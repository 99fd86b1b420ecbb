from datetime import timedelta

import pytest
from django.utils import timezone

from common.mail import outbox
from common.mail.models import Kind


@pytest.fixture
def record(db, settings):
    """Write a message to somebody; `language` is that of its text."""

    def write(recipient="ana@example.com", *, name="Loja", language="en"):
        context = {"account": name, "inviter": "maria", "link": outbox.Link("https://rota.example.com/x"), "days": 7}
        return outbox.record(
            kind=Kind.INVITATION,
            recipient=recipient,
            template="invitation",
            context=context,
            language=language,
            at=timezone.now(),
            lifetime=timedelta(days=1),
            unsubscribe="https://rota.example.com/end",
        )

    return write

"""The Celery tasks of e-mail. Imported by workers only."""

from typing import Any

from celery import shared_task
from celery.signals import worker_process_shutdown, worker_shutdown

from common.clock import agreed_now
from common.mail import sending
from common.workers.wake_up import BackgroundWork

_sending = BackgroundWork("mail", sending.send_due)
# A message that is interrupted is sent once more after its lease.
_STOP_SECONDS = 5


@shared_task(name="mail.send_due")
def send_due() -> None:
    """Have the thread of this process send what is due. Returns at once."""
    _sending.wake()


@shared_task(name="mail.prune")
def prune() -> None:
    sending.prune(at=agreed_now())


@worker_process_shutdown.connect
@worker_shutdown.connect  # for pools without processes of their own
def _stop(**_kwargs: Any) -> None:
    _sending.stop(seconds=_STOP_SECONDS)

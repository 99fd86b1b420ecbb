"""What is counted of Celery's tasks."""

from prometheus_client import Counter

from common.metrics import REGISTRY

SENT = Counter("rota_beat_tasks_sent", "Periodic tasks that beat has sent", ["task"], registry=REGISTRY)
RUN = Counter("rota_tasks", "Tasks that workers have run", ["task", "state"], registry=REGISTRY)

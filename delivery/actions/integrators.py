"""Opening an account."""

from django.db import transaction

from delivery.actions import endpoints
from delivery.models import Environment, Integrator


@transaction.atomic
def open_(integrator: Integrator) -> Integrator:
    """Save a new account with a webhook endpoint, still without a URL, for each environment."""
    integrator.save()
    for environment in Environment:
        endpoints.create(integrator=integrator, environment=environment)
    return integrator

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from access import enrolment
from common import clock


class Command(BaseCommand):
    help = "Issue a code with which a person can set up a second factor, such as the first superuser."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("username")

    def handle(self, *_args: Any, **options: Any) -> None:
        name = options["username"]
        try:
            user = User.objects.get_by_natural_key(name)
            code = enrolment.issue(user=user, by="command enrol_second_factor", at=clock.now())
        except User.DoesNotExist as error:
            raise CommandError(f"There is no user {name!r}.") from error
        except enrolment.AlreadyEnrolled as error:
            raise CommandError(f"{name} has a second factor. Delete it in the admin first, as a superuser.") from error
        self.stdout.write(f"{code}\nFor {name}, once, within 24 hours, on the page that follows the log-in.")

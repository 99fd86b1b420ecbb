"""Commands that print one JSON object."""

from io import StringIO

from common.commands import JSONCommand


class Command(JSONCommand):
    in_transaction = False

    def check(self, *_arguments, **_options):
        raise AssertionError("Django's checks import every page.")

    def run(self, options):
        return {"verbosity": options["verbosity"]}


def test_runs_without_the_checks():
    command = Command(stdout=StringIO())
    options = command.create_parser("manage.py", "answer").parse_args([])

    command.execute(**vars(options))

    assert command.stdout.getvalue() == '{"verbosity": 1}\n'

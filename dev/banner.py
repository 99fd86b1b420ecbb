"""Text that `make run` prints after the start: addresses, credentials, and commands to paste."""

import os
import shlex

_SHIPMENT = '{"origin": "01310100", "destination": "40020000", "weight": 2.5, "declared_amount": 15000}'
_REQUEST = """{
  "vehicleType": "MOTORCYCLE",
  "pickup": {
    "contacts": {"name": "Loja Paulista", "phoneNumber": "+55 11 3333-0000"},
    "address": {"street": "Avenida Paulista", "number": "1578", "latitude": -23.561414, "longitude": -46.655881}
  },
  "dropoffs": [
    {
      "externalId": "order-1001", "contacts": {"name": "Maria", "phoneNumber": "+55 11 97777-0001"},
      "address": {"street": "Rua Augusta", "number": "500", "latitude": -23.552, "longitude": -46.65}
    }
  ]
}"""


def banner(base: str, demo: dict[str, str] | None, *, is_embedded: bool) -> str:
    """The text. `base` is the URL of the service.

    `demo` has the credentials if this start has created the demo data, see `dev.demo.data`.
    """
    lines = [
        *(commands(base, demo) if demo is not None else []),
        "",
        "Rota is running. Ctrl-C stops it.",
        "",
        f"  Documentation   {base}/docs/",
        f"  Panel           {base}/panel/",
        f"  Board           {base}/panel/board/",
        f"  Admin           {base}/admin/",
        f"  API             {base}/api/",
    ]
    if demo is not None:
        lines += credentials(demo)
    elif is_embedded:
        lines += [
            "",
            "The demo's credentials were shown at the first start. To replace them and print commands to paste:",
            "",
            _manage(f"demo_credentials --url {shlex.quote(base)}"),
        ]
    else:
        lines += [
            "",
            "An external database gets no demo data. To fill an empty one, and see the credentials:",
            "",
            f"  Demo data:   {_manage('seed_demo')}",
            "",
            f"  New log-in:  {_manage('createsuperuser')}",
            f"  its code:    {_manage('enrol_second_factor USERNAME')}",
            f"  New account: {_manage('create_integrator NAME --pickup LAT,LNG')}",
            f"  New seller:  {_manage('create_seller NAME --company DOCUMENT')}",
        ]
    return "\n".join([*lines, ""])


def credentials(demo: dict[str, str]) -> list[str]:
    """Lines with the demo's credentials."""
    return [
        f"  Log-in          {demo['login']} / {demo['password']}",
        f"  Shop's log-in   {demo['shop_login']} / {demo['shop_password']}",
        f"  Token           {demo['token']}",
        f"  Signing secret  {demo['signing_secret']}",
        f"  Sandbox token   {demo['sandbox_token']}",
        f"  Sandbox secret  {demo['sandbox_signing_secret']}",
        f"  API key         {demo['api_key']}",
        f"  Test API key    {demo['sandbox_api_key']}",
        f"  Carrier key     {demo['carrier_key']}",
        "",
        "They are shown only now. Both tokens are of one account, each with the secret that signs its webhooks.",
    ]


def commands(base: str, demo: dict[str, str]) -> list[str]:
    """Lines with commands that use the demo's credentials. They are printed first, so that the log-ins end the text."""
    variables = {
        "BASE_URL": base,
        "TOKEN": demo["sandbox_token"],
        "WEBHOOK_SECRET": demo["sandbox_signing_secret"],
        "API_KEY": demo["sandbox_api_key"],
    }
    bearer, basic = f"Bearer {demo['sandbox_token']}", f"Basic {demo['sandbox_api_key']}"
    found = {
        f"For the examples of {base}/docs/quickstart, in another terminal:": " \\\n  ".join(
            ["export", *(f"{name}={shlex.quote(value)}" for name, value in variables.items())]
        ),
        "Quote a delivery:": _curl(f"{base}/api/quotation-delivery", bearer, _REQUEST),
        "Request it; a simulated driver delivers it in two minutes:": _curl(
            f"{base}/api/request-delivery", bearer, _REQUEST
        ),
        "Quote a shipment by postcode:": _curl(f"{base}/api/integration/shipping/quote", basic, _SHIPMENT),
        "Watch a whole delivery with its webhooks:": _manage(f"demo --url {shlex.quote(base)}"),
    }
    return [line for what, command in found.items() for line in ("", what, "", command)]


def _manage(command: str) -> str:
    """A management command to paste, with this run's DATA_DIR unless it is the default."""
    folder = os.environ.get("DATA_DIR", "")
    return f"{f'DATA_DIR={shlex.quote(folder)} ' if folder else ''}.venv/bin/python manage.py {command}"


def _curl(url: str, authorization: str, body: str) -> str:
    """A command in lines that a terminal of 120 columns does not wrap."""
    lines = [
        f"curl -s {shlex.quote(url)}",
        f"-H 'Authorization: {authorization}'",
        "-H 'Content-Type: application/json'",
        f"-d '{body}'",
    ]
    return " \\\n  ".join(lines)

"""What a newcomer reads when everything is up: addresses, log-in, token, and commands to paste."""

import json

_REQUEST = {
    "vehicleType": "MOTORCYCLE",
    "pickup": {
        "contacts": {"name": "Loja Paulista", "phoneNumber": "+55 11 3333-0000"},
        "address": {
            "street": "Avenida Paulista", "number": "1578", "district": "Bela Vista", "city": "São Paulo",
            "state": "SP", "zipcode": "01310-200", "country": "BR", "latitude": -23.561414, "longitude": -46.655881,
        },
    },
    "dropoffs": [
        {
            "externalId": "order-1001",
            "contacts": {"name": "Maria", "phoneNumber": "+55 11 97777-0001"},
            "address": {
                "street": "Rua Augusta", "number": "500", "city": "São Paulo", "state": "SP", "zipcode": "01304-000",
                "latitude": -23.5520, "longitude": -46.6500,
            },
        },
        {
            "externalId": "order-1002",
            "address": {"street": "Rua Oscar Freire", "number": "900", "latitude": -23.5629, "longitude": -46.6689},
        },
    ],
}  # fmt: skip  # an address reads as one


def banner(port: int, demo: dict[str, str] | None) -> str:
    """The text. `demo` holds the credentials of the seeded data, None for a database that was in use already."""
    base = f"http://127.0.0.1:{port}"
    lines = ["", "Rota is running. Ctrl-C ends it.", "", f"  Admin     {base}/admin/", f"  API       {base}/api/"]
    if demo is None:
        lines += ["", "  New account: .venv/bin/python manage.py create_integrator NAME --pickup LAT,LNG"]
        return "\n".join([*lines, ""])
    return "\n".join(
        [
            *lines,
            f"  Log-in    {demo['login']} / {demo['password']}",
            f"  Token     {demo['token']}",
            f"  Sandbox   {demo['sandbox_token']}",
            f"  Secret    {demo['signing_secret']}",
            "",
            "Quote a delivery:",
            "",
            _curl(f"{base}/api/quotation-delivery", demo["token"]),
            "",
            "Request it:",
            "",
            _curl(f"{base}/api/request-delivery", demo["token"]),
            "",
            "Watch a whole delivery with its webhooks, in another terminal:",
            "",
            f".venv/bin/python manage.py demo --url {base}",
            "",
        ]
    )


def _curl(url: str, token: str) -> str:
    body = json.dumps(_REQUEST, ensure_ascii=False)
    return f"curl -s {url} -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' -d '{body}'"

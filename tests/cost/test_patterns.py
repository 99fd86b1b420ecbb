"""Every regular expression of the product: reviewed, and tried with the worst for each of its parts.

A new or changed pattern fails until it stands in the table, with how its cost is bounded and a text that it matches.
Bound the length before the pattern is asked, or write it so that matching takes linear time: no two neighbouring
quantifiers, and no quantifier within another, may take the same character.
"""

import re
from dataclasses import dataclass

from tests.cost.cpu import Child
from tests.cost.patterns import patterns

SECONDS = 0.5
LINEAR = 250_000


@dataclass(frozen=True)
class Bound:
    """How a pattern is bounded, the longest text that reaches it, a text that it matches."""

    reason: str
    longest: int
    example: str


COUNTED = "linear: every quantifier is counted"
ONE = "linear: one quantifier over one class"
LOG_TEXT = 64 * 1024
_CUT = "cut to _LONGEST; linear too: one quantifier over one class"
_ADDRESS = "an address's text of at most 255 characters, a query of at most 400; linear but for the signs at both ends"
_ROUTES = "linear; the expressions of our own URL map"
_OWN = "linear; the texts of config/environment.py"
_CHAT = "length checked by `chat_of`; every quantifier is counted"
TABLE = {
    (
        "common/shops/street_lines.py",
        (
            r"(?P<street>[^,]{2,200}),\s{0,3}(?:n[º°o.]{1,2}\s?)?"
            r"(?P<number>[0-9]{1,6}(?:\s?[-/]?\s?[a-z])?|s/?n[º°o]?|sem n[uú]mero)"
            r"(?:\s{0,3}[,;-]\s{0,3}(?P<rest>.{0,255}))?"
        ),
    ): Bound("cut to 255 characters by `values.text`", 255, "Rua Chile, nº 21-B, apto 3"),
    (
        "common/shops/street_lines.py",
        r"(?P<street>[^,0-9]{2,200}\s(?P<word>[^,0-9\s]{3,60}))\s{1,3}(?P<number>[0-9]{1,6})",
    ): Bound("cut to 255 characters by `values.text`", 255, "Rua da Graça 21"),
    ("common/shops/values.py", r"-?[0-9]{1,12}(\.[0-9]{1,20})?"): Bound(COUNTED, LINEAR, "-12.50"),
    ("common/shops/woocommerce.py", "&#?[0-9A-Za-z]{1,31};"): Bound(COUNTED, LINEAR, "&amp;"),
    ("common/redis_url.py", "[/?#]"): Bound("linear: one sign, in a setting", LINEAR, "/"),
    ("common/postgresql/compiled_queries.py", "%[%s]"): Bound("linear: two signs, in our own statements", LINEAR, "%s"),
    ("common/brazil/phones.py", "[^0-9]"): Bound("linear: one sign", LINEAR, "+"),
    ("common/brazil/phones.py", r"\+?[0-9]+"): Bound("cut to 255 characters; linear too: one quantifier", 255, "+55"),
    ("common/brazil/phones.py", r"\+?([ ().-]*[0-9]){8,13}[ ().-]*"): Bound(
        "length checked before; linear too: a digit ends each group of signs", 255, "+55 (11) 97777-0001"
    ),
    ("common/brazil/phones.py", r"['+]?[0-9]([.,][0-9]{1,20})?[eE]\+?[0-9]{1,3}"): Bound(
        COUNTED, LINEAR, "5,51198E+12"
    ),
    ("common/api/heavy.py", r"\(\?P<\w+>"): Bound(_ROUTES, 2_000, "(?P<seller>"),
    ("common/api/heavy.py", r"(\\Z|\\z|\$)$"): Bound(_ROUTES, 2_000, "\\Z"),
    ("common/api/heavy.py", "path"): Bound(
        f"{_ROUTES}, one behind another; paths are cut by the server", 2_000, "path"
    ),
    ("delivery/streets/ranges.py", r"bytes ([0-9]{1,15})-([0-9]{1,15})/([0-9]{1,15})"): Bound(
        COUNTED, LINEAR, "bytes 0-1/2"
    ),
    ("common/pages/map_file.py", r"bytes=([0-9]{1,15})-([0-9]{1,15})"): Bound(COUNTED, LINEAR, "bytes=0-1"),
    ("config/monitoring/logs.py", r"(rota_(?:live|test|key|testkey|carrierkey)_)[A-Za-z0-9_-]{16,}"): Bound(
        _CUT, LOG_TEXT, "rota_live_" + "a" * 16
    ),
    ("config/monitoring/logs.py", r"(whsec_)[A-Za-z0-9+/=_-]{8,}"): Bound(_CUT, LOG_TEXT, "whsec_" + "a" * 8),
    ("config/monitoring/logs.py", r"\b(Bearer|Basic) +[^\s'\"]+"): Bound(_CUT, LOG_TEXT, "Bearer a"),
    ("config/monitoring/logs.py", r"(/t/|/driver/in/|/account/password/reset/|/api/photos/)[^\s'\"?#]+"): Bound(
        _CUT, LOG_TEXT, "/account/password/reset/a"
    ),
    ("config/monitoring/logs.py", r"[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"): Bound(
        "cut to _LONGEST; 64 characters at each place, and a point before each repetition",
        LOG_TEXT,
        "a.b@c.example.com",
    ),
    ("config/monitoring/logs.py", r"(DETAIL|CONTEXT): .*?(?=\n\n(?:The above|During)|\Z)"): Bound(
        "cut to _LONGEST; linear: the first match reaches the end", LOG_TEXT, "DETAIL: a"
    ),
    ("config/management/commands/environment.py", r"[`*](\w[^`*]*)[`*]|\[([^]]*)\]\([^)]*\)"): Bound(
        _OWN, 2_000, "`a` [b](c)"
    ),
    ("access/passwords.py", r"[^\W\d_]+"): Bound("cut to 256 characters; linear too: one quantifier", LINEAR, "rota 1"),
    (
        "common/files/csv_files.py",
        r"""(?:^|(?<=[,;\t\r\n]))(?='*[ \xa0"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^(?=[\t\r\n'])""",
    ): Bound("linear: the two repetitions begin at a separator, and hold none", LINEAR, ";''  =1,+2"),
    (
        "common/files/csv_files.py",
        r"""(?:^|(?<=[,;\t\r\n]))'(?='*[ \xa0"]*[=+\-@\uff1d\uff0b\uff0d\uff20])|^'""",
    ): Bound("length checked by `read`; linear: the repetitions follow a separator", LINEAR, ";'  =1,''+2"),
    ("common/files/csv_files.py", r'"?sep=(.)"?[;,\t]{0,100}'): Bound(COUNTED, LINEAR, '"sep=;";;;'),
    ("common/files/csv_files.py", r'="([^"]*)"'): Bound(ONE, LINEAR, '="0123"'),
    ("common/files/csv_files.py", r'"[^"]*"'): Bound(
        "length checked by `check_size`; linear: the next match begins after the repetition", LINEAR, '"a";"b,c"'
    ),
    ("common/files/workbooks.py", r"""\br\s*=\s*["']([A-Za-z]*)([0-9]*)["']"""): Bound(
        "at most _MOST_EXPANDED; linear: each repetition follows a character that it does not hold",
        LINEAR,
        "r = 'XFD1048576'",
    ),
    ("common/files/workbooks.py", r"</[^>]{0,50}si\s{0,20}>"): Bound(COUNTED, LINEAR, "</x:si  >"),
    ("common/api/idempotency.py", r"[ -~]+"): Bound(ONE, LINEAR, "order-1"),
    ("common/observability/masking.py", r"([0-9]{2}[. ]?[0-9]{3})[ .-]?[0-9]{0,4}"): Bound(
        COUNTED, LINEAR, "01310-100"
    ),
    ("common/observability/masking.py", r"[\w.,:+-]{1,40}"): Bound(COUNTED, LINEAR, "MOTORCYCLE"),
    ("common/observability/masking.py", r"[\w.-]{1,40}"): Bound(COUNTED, LINEAR, "vehicleType"),
    ("common/accounts.py", r"://|\bwww\."): Bound("linear: no quantifier", LINEAR, "www."),
    ("common/api/views.py", r"""(^|,)\s*handling\s*=\s*("strict"|strict)\s*($|[,;])"""): Bound(
        "cut to _LONGEST_PREFER; linear too: a word stands between the repetitions", 500, ', handling = "strict" ,'
    ),
    ("common/api/refused_calls.py", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"): Bound(
        COUNTED, LINEAR, "019aa8f0-5c1e-7d5a-9f00-3b6c1d2e4f50"
    ),
    ("common/api/refused_calls.py", r"[A-Za-z_-]{0,40}"): Bound(COUNTED, LINEAR, "info-delivery"),
    ("common/api/refused_calls.py", r"[\w.+-]{1,40}/[\w.+-]{1,60}"): Bound(COUNTED, LINEAR, "application/json"),
    ("config/middleware.py", r"[A-Za-z0-9_.:-]{8,128}"): Bound(COUNTED, LINEAR, "0190b5a0-7c3e"),
    (
        "delivery/alerts/chats.py",
        (
            r"(?:discord://|https://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}/)?webhooks/)"
            r"(?P<webhook_id>[0-9]{1,32})/(?P<webhook_token>[A-Za-z0-9_-]{1,128})/?"
        ),
    ): Bound(_CHAT, 2_000, "discord://12/s3c"),
    (
        "delivery/alerts/chats.py",
        (
            r"(?:slack://|https://hooks\.slack\.com/services/)"
            r"(?P<token_a>[A-Z0-9]{1,40})/(?P<token_b>[A-Z0-9]{1,40})/(?P<token_c>[A-Za-z0-9]{1,80})/?"
        ),
    ): Bound(_CHAT, 2_000, "slack://T0A/B0B/s3c"),
    (
        "delivery/alerts/chats.py",
        (
            r"gchat://(?P<workspace>[A-Za-z0-9_-]{1,128})/"
            r"(?P<webhook_key>[A-Za-z0-9_-]{1,128})/(?P<webhook_token>(?:[A-Za-z0-9_-]|%3D){1,256})/?"
        ),
    ): Bound(_CHAT, 2_000, "gchat://AAA/k3y/t%3D"),
    (
        "delivery/alerts/chats.py",
        (
            r"https://(?P<host>[a-z0-9.-]{1,200}\.(?:logic\.azure|(?P<power_automate>powerplatform))\.com)(?::443)?(?:/powerautomate/automations/direct(?:/cu/"
            r"(?P<routing_id>[0-9]{1,10}))?)?/workflows/"
            r"(?P<workflow>[A-Za-z0-9_-]{1,128})/triggers/manual/paths/invoke\?api-version=(?P<version>[0-9a-z-]{1,32})&sp=%2Ftriggers%2Fmanual%2Frun&sv=1\.0&sig="
            r"(?P<signature>[A-Za-z0-9_-]{1,128})"
        ),
    ): Bound(
        _CHAT,
        2_000,
        "https://p.powerplatform.com:443/powerautomate/automations/direct/cu/7/workflows/ab/triggers/manual/paths/invoke?api-version=1&sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=s",
    ),
    (
        "delivery/alerts/chats.py",
        (
            r"https://chat\.googleapis\.com/v1/spaces/(?P<workspace>[A-Za-z0-9_-]{1,128})/messages\?key="
            r"(?P<webhook_key>[A-Za-z0-9_-]{1,128})&token=(?P<webhook_token>(?:[A-Za-z0-9_-]|%3D){1,256})"
        ),
    ): Bound(_CHAT, 2_000, "https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t%3D"),
    (
        "delivery/alerts/chats.py",
        (
            r"tgram://(?P<bot_token>[0-9]{1,20}:[A-Za-z0-9_-]{1,128})/"
            r"(?P<targets>(?:-?[0-9]{1,32}|@?[A-Za-z][A-Za-z0-9_]{1,31})(?::[0-9]{1,10})?)/?"
        ),
    ): Bound(_CHAT, 2_000, "tgram://12:s3c/@ops:7"),
    (
        "delivery/alerts/chats.py",
        (
            r"workflows://(?P<host>[a-z0-9.-]{1,200}\.(?:logic\.azure|(?P<power_automate>powerplatform))\.com)(?::443)?/"
            r"(?P<workflow>[A-Za-z0-9_-]{1,128})/"
            r"(?P<signature>[A-Za-z0-9_-]{1,128})/?"
        ),
    ): Bound(_CHAT, 2_000, "workflows://p.powerplatform.com:443/ab/s3c"),
    ("delivery/places/address_table.py", r",(?!\d) ?| [-\u2013\u2014] "): Bound(COUNTED, LINEAR, ", "),
    ("delivery/places/address_table.py", r"(.+?) ?[-/,(] ?([A-Za-z]{2})\)?"): Bound(
        "cut to 255 characters", 255, "São Paulo - SP"
    ),
    ("delivery/places/street_names.py", r"\b(?:km|quilometro) ?(\d{1,4})(?: (\d{1,3}))?\b"): Bound(
        COUNTED, LINEAR, "km 22 5"
    ),
    ("delivery/places/street_names.py", r"0*(\d{1,4})[oa]?"): Bound("cut to 255 characters", 255, "01o"),
    ("delivery/places/street_names.py", r"([a-z])\1"): Bound("linear: no quantifier", LINEAR, "ll"),
    ("delivery/places/address_words.py", r"[ºª°]"): Bound("linear: no quantifier", LINEAR, "º"),
    (
        "delivery/places/address_words.py",
        r"\W*(?:n(?:umero|um|ro|r|o)?\s?[.:]?\s?)?(\d{1,3}\.\d{3}|\d{1,6})(?!\d)(?:[-/]?([a-z])(?!\w)|\s?[-/]?\s?([a-z])\W*$)?",
    ): Bound(_ADDRESS, 400, "#no. 1.250-a."),
    (
        "delivery/places/address_words.py",
        (
            r"(?<!\w)(?:s\s?[/\\]\s?n(?:[ºo°.]|ro?|[uú]m(?:ero)?)?|sem\sn(?:[ºo°.]|ro?|[uú]m(?:ero)?))(?!\w)"
            r"|(?<!\w)(?:sn|s\.\s?n\.?)(?=\s?(?:,|$))"
        ),
    ): Bound(_ADDRESS, 400, "s / numero"),
    (
        "delivery/places/address_words.py",
        r"(?:S[A-Z]{1,4}\s)?(?:S[A-Z]{1,4}|Q[A-Z]{0,3}|E[QP][A-Z]{1,3})\s?\d",
    ): Bound(COUNTED, LINEAR, "SHIS QI 5"),
    (
        "delivery/places/address_words.py",
        (
            r"(\d[a-z]?)\s?[-\u2013]?\s?(?:(?:\d{1,3}\s?[\u00ba\u00b0oO]?\.?\s?andar|apartamento|apto|apt|ap|"
            r"sala|sl|loja|lj|casa|andar|fundos|torre|box)\b|(?:bloco|bl|conjunto|conj|cj|quadra|qd|lote|lt)"
            r"\b\.?(?=\s?\d|\s[a-z]\b)).*"
        ),
    ): Bound(_ADDRESS, 400, "500a - bl. 2 apto 12"),
    (
        "delivery/places/address_words.py",
        (
            r"(\d[a-z]?|\b[a-z])\s?[-\u2013]?\s?(?:\d{1,3}\s?[\u00ba\u00b0oO]?\.?\s?andar|apartamento|apto|ap"
            r"t|ap|sala|sl|loja|lj|casa|andar|fundos|torre|box)\b.*"
        ),
    ): Bound(_ADDRESS, 400, "b - apto 2"),
    (
        "delivery/places/address_words.py",
        (
            r"(?:(?:\d{1,3}\s?[\u00ba\u00b0oO]?\.?\s?andar|apartamento|apto|apt|ap|sala|sl|loja|lj|casa|andar"
            r"|fundos|torre|box)\b\.?(?:\s?\d.*)?|(?:bloco|bl|conjunto|conj|cj|quadra|qd|lote|lt)\b\.?(?=\s?"
            r"\d|\s[a-z]\b).*)$"
        ),
    ): Bound(_ADDRESS, 400, "lote 12 b"),
    (
        "delivery/places/address_words.py",
        (
            r"(?:\d{1,3}\s?[\u00ba\u00b0oO]?\.?\s?andar|apartamento|apto|apt|ap|sala|sl|loja|lj|casa|andar|fu"
            r"ndos|torre|box)\b\.?(?:\s?\d.*)?$"
        ),
    ): Bound(_ADDRESS, 400, "apto. 12 b"),
    ("delivery/places/geocoding.py", r"!3d(-?\d{1,3}(?:\.\d{1,20})?)!4d(-?\d{1,3}(?:\.\d{1,20})?)"): Bound(
        COUNTED, LINEAR, "!3d-23.561414!4d-46.655881"
    ),
    (
        "delivery/places/geocoding.py",
        r"(-?\d{1,3}(?:\.\d{1,20})?)(?:, ?|%2C|/|;| )(?=(-?\d{1,3}(?:\.\d{1,20})?))",
    ): Bound(COUNTED, LINEAR, "-23.561414, -46.655881"),
    ("delivery/api/fields.py", r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?"): Bound(
        "length checked by _spells_number; linear too: a point stands between the digits", LINEAR, "-12.50e+10"
    ),
    (
        "delivery/api/fields.py",
        r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}([.][0-9]{1,9})?([Zz]|[+-][0-9]{2}:[0-9]{2})?",
    ): Bound(COUNTED, LINEAR, "2026-12-01T16:00:00.000-03:00"),
    ("common/commands.py", r"^-\d[\d.,\- ]*$"): Bound(ONE, LINEAR, "-23.56,-46.65"),
    ("common/simulation/pace.py", r"sim[\W_]"): Bound("linear: no quantifier", LINEAR, "sim_"),
    ("common/webhooks/address_guard.py", r"[0-9]+|0[xX][0-9a-fA-F]*"): Bound(
        "length checked by _split; linear too: one quantifier in each alternative", LINEAR, "0x7f000001"
    ),
    ("common/webhooks/http_client.py", r"HTTP/\d(?:\.\d)? (\d{3})\b[^\n]*\n"): Bound(
        "linear: one quantifier; the first 128 KiB of an answer", LINEAR, "HTTP/1.1 200 OK\n"
    ),
    ("common/webhooks/http_client.py", r"\n\r?\n"): Bound("linear: one counted quantifier", LINEAR, "\n\r\n"),
    ("delivery/photo_process.py", r"\xff([\xc0-\xcf\xd8-\xfe])"): Bound(
        "linear: no quantifier; at most 8 MB", LINEAR, "\xff\xda"
    ),
    ("common/webhooks/address_guard.py", r"[\x00-\x20\x7f-\x9f\\]"): Bound("linear: no quantifier", LINEAR, "\\"),
    ("common/api/json_body.py", r"[\x00\ud800-\udfff]"): Bound("linear: no quantifier", LINEAR, "\0"),
    ("integration/api/fields.py", r"[0-9]{1,18}"): Bound(COUNTED, LINEAR, "12"),
    ("integration/api/fields.py", r"\d{1,16}(\.\d{1,20})?"): Bound(COUNTED, LINEAR, "12.50"),
    ("integration/api/fields.py", r"[0-9]{1,3}"): Bound(COUNTED, LINEAR, "12"),
    ("integration/api/fields.py", r"[0-9]{1,6}x[0-9]{1,6}x[0-9]{1,6},[0-9]{1,6}(\.[0-9]{1,6})?"): Bound(
        COUNTED, LINEAR, "10x20x30,1.5"
    ),
    (
        "integration/api/fields.py",
        r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01]) ([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]",
    ): Bound(COUNTED, LINEAR, "2026-11-20 10:00:00"),
    ("integration/payload_warnings.py", r"[0-9]{11}|[0-9A-Z]{12}[0-9]{2}"): Bound(COUNTED, LINEAR, "11222333000181"),
    ("integration/papers/label.py", r"[0-9]{6}[0-9A-Z]{12}[0-9]{26}"): Bound(COUNTED, LINEAR, "1" * 44),
    ("integration/papers/marks.py", r"[ -=?-~]{1,80}"): Bound(COUNTED, LINEAR, "AA123456785BR"),
    (
        "delivery/hours/models.py",
        (
            r"^([0-9]{4}-[01][0-9]-[0-3][0-9]"
            r"( ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)"
            r"(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?"
            r" [^\n]+"
            r"(\n[0-9]{4}-[01][0-9]-[0-3][0-9]"
            r"( ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00)"
            r"(, ([01][0-9]|2[0-3]):[0-5][0-9]-(([01][0-9]|2[0-3]):[0-5][0-9]|24:00))*)?"
            r" [^\n]+)*)?$"
        ),
    ): Bound("a column of 5,000 characters", 5000, "2026-12-24 08:00-12:00, 13:00-24:00 Natal\n2026-12-25 X"),
    ("integration/models/seller.py", r"[\s./-]+"): Bound(ONE, LINEAR, "./-"),
    ("integration/models/webhook.py", r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}"): Bound(COUNTED, LINEAR, "X-Api-Key"),
    ("integration/models/webhook.py", r"[ -~]*"): Bound(ONE, LINEAR, "a b"),
    ("integration/models/seller.py", r"^([0-9A-Z]{12}[0-9]{2}|[0-9]{11})$"): Bound(
        "length checked by the column; counted too, and PostgreSQL's own engine", LINEAR, "11222333000181"
    ),
    ("integration/invoices/nfe.py", r"(2\.0[0-9]|3\.[01][0-9]|4\.00)"): Bound(COUNTED, LINEAR, "4.00"),
    ("integration/invoices/nfe.py", r"1\.[0-9]{2}"): Bound(COUNTED, LINEAR, "1.00"),
    ("integration/invoices/nfe.py", r"[0-9A-Z]{11,14}"): Bound(COUNTED, LINEAR, "11222333000181"),
    ("integration/invoices/nfe.py", r"[0-9A-Z]{44}"): Bound(COUNTED, LINEAR, "1" * 44),
    ("integration/invoices/nfe.py", r"[0-9]{1,13}(\.[0-9]{1,2})?"): Bound(COUNTED, LINEAR, "150.50"),
    ("integration/invoices/nfe.py", r"[0-9]{1,3}"): Bound(COUNTED, LINEAR, "1"),
    ("integration/invoices/nfe.py", r"[0-9]{1,9}"): Bound(COUNTED, LINEAR, "123"),
    (
        "integration/invoices/nfe.py",
        (
            r"""<\?xml\s+version\s*=\s*["']1\.[0-9]["'](\s+encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["'])?"""
            r"""(\s+standalone\s*=\s*["'](yes|no)["'])?\s*\?>"""
        ),
    ): Bound("length checked by _encoding", 200, """<?xml version="1.0" encoding="UTF-8" standalone="yes" ?>"""),
    ("common/brazil/states.py", r"[0-9]{2}[. ]?[0-9]{3}( ?- ?|[. ])?[0-9]{3}"): Bound(COUNTED, LINEAR, "01.310 - 100"),
    ("common/mail/outbox.py", r"(?<=\w)[.\u3002\uff0e\uff61](?=[^\W\d_]{2})"): Bound(COUNTED, LINEAR, "a.example"),
    ("panel/dispatch/board.py", r"[0-9a-f-]{6,36}"): Bound(COUNTED, LINEAR, "0b96b1"),
    ("panel/templatetags/panel.py", r"#([2-9]) ?(.*)"): Bound(
        "linear: the last quantifier takes the rest", LINEAR, "#2 x"
    ),
    ("panel/urls.py", "live|sandbox"): Bound("linear: no quantifier", LINEAR, "live"),
    ("panel/guide/description.py", "( ?`(?:'|'.join(CODES))`: )"): Bound(
        "the project's own description", 10_000, "`'`: "
    ),
    ("panel/guide/description.py", r"(?<=[.!?])(\s+)"): Bound("the project's own description", 10_000, ".  A"),
    ("panel/guide/postman.py", r"\{(\w+)\}"): Bound("the project's own paths", 2000, "{deliveryId}"),
    (
        "panel/guide/postman.py",
        r"\$(?P<source>request|response)\.body#/(?P<keys>(?:[A-Za-z]\w*/)*[A-Za-z]\w*)",
    ): Bound("the project's own links", 2000, "$response.body#/data/deliveryId"),
    ("panel/guide/pages.py", r"^\| \[[^]]+\]\((\S+)\.md\)[^|]* \| (.+) \|$"): Bound(
        "the guide's own list of pages", 2000, "| [Quickstart](quickstart.md) | the first webhook |"
    ),
}


def test_every_pattern_is_reviewed():
    assert patterns() == set(TABLE)


def worst(example):
    """The example with each of its characters, and each pair of neighbours, to be repeated, and several ends."""
    for start in range(len(example)):
        for width in (1, 2):
            for tail in ("", "\x00", example[start + width :], example[start:] + "\x00"):
                yield example[:start], example[start : start + width], tail


def tried():
    for (file, pattern), bound in TABLE.items():
        for parts in dict.fromkeys(worst(bound.example)):
            yield f"{file} {pattern} {parts}", (pattern, *parts, bound.longest)


def look(argument):
    """The text is made here, because to send it to this process takes longer than any pattern."""
    pattern, head, unit, tail, longest = argument
    text = (head + unit * ((longest - len(head) - len(tail)) // len(unit)) + tail)[:longest]
    compiled = re.compile(pattern, re.ASCII)
    for look_for in (compiled.match, compiled.fullmatch, compiled.search):
        look_for(text)


def test_every_example_is_matched():
    assert [key for key, bound in TABLE.items() if not re.search(key[1], bound.example, re.ASCII)] == []


def test_every_pattern_is_cheap_with_the_worst_for_each_part():
    with Child(look) as child:
        child.assert_cheap(tried(), seconds=SECONDS)

"""The scripts of pages call no function that the oldest browsers lack, unless `old_browsers.js` adds it.

The oldest ones are Chrome 88, Safari 15.4 and Firefox 98, see docs/operations.md.
"""

import re

from django.conf import settings

ADDS = settings.BASE_DIR / "panel/static/panel/old_browsers.js"
# Newer than one of these browsers: functions, and syntax that nothing can add.
NEWER = re.compile(
    r"\b(AbortSignal\.any|structuredClone|AbortSignal\.timeout|Object\.hasOwn|Object\.groupBy|Array\.fromAsync|reportError"
    r"|(?<=\.)(?:at|findLast|findLastIndex|toSorted|toReversed|toSpliced|randomUUID|requestSubmit|checkVisibility"
    r"|withResolvers|showPopover|togglePopover|startViewTransition|isWellFormed|canParse|showPicker|union|difference"
    r"|intersection))\(|\b(OffscreenCanvas|scheduler\.|cookieStore\.|static \{)|\(\?<[=!]"
)


def test_newer_functions_are_added_for_them():
    added = set(re.findall(r'add\([\w.]+, "(\w+)"', ADDS.read_text()))
    scripts = [path for path in settings.BASE_DIR.glob("*/static/**/*.js") if path != ADDS]

    used = {(path.name, found[1] or found[0]) for path in scripts for found in NEWER.finditer(path.read_text())}

    assert ("server.js", "AbortSignal.timeout") in used
    assert [(name, call) for name, call in used if call.rpartition(".")[2] not in added] == []

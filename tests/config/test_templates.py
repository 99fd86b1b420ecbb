"""What Django accepts in a template without a word, and shows to people."""

import re
from pathlib import Path

from django.conf import settings

# A comment of this kind ends on its line.
_UNCLOSED = re.compile(r"\{#(?!.*#\})")


class TestTemplates:
    def test_show_no_comment(self):
        found = [
            each.name
            for each in Path(settings.BASE_DIR, "templates").rglob("*.*")
            if _UNCLOSED.search(each.read_text())
        ]

        assert found == []

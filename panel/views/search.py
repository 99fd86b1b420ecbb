"""The search over everything that a person may open, as a page and as what its dialog shows."""

from django.http import HttpRequest, HttpResponse

from common.postgresql.replica import may_be_old
from panel.base import LoggedInView
from panel.search import LONGEST, Search


class SearchPage(LoggedInView):
    """What the text `q` finds. For htmx the results alone."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        text = request.GET.get("q", "")[:LONGEST].strip()
        template = "search_results" if request.headers.get("HX-Request") else "search"
        return self.page(f"panel/{template}.html", query=text, longest=LONGEST, groups=Search(request, text).groups)

from django.urls import path

from panel.guide import pages
from panel.guide.views import ErrorView, MarkdownView, PageView, ProgramView, ReferenceView, SearchView

app_name = "documentation"
urlpatterns = [
    path("", PageView.as_view(), {"page": ""}, name="first"),
    path("reference", ReferenceView.as_view(), name="reference"),
    path("errors/<str:code>", ErrorView.as_view(), name="error"),
    path("search", SearchView.as_view(), name="search"),
    *(path(program, ProgramView.as_view(), {"program": program}) for program in pages.PROGRAMS),
    path("<str:file>.md", MarkdownView.as_view(), name="markdown"),
    path("<str:page>", PageView.as_view(), name="page"),
]

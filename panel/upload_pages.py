"""The pages of an uploaded table: the form with the file, and its preview with progress and result.

Whose pages they are and what the rows become, say further bases: an account's or a seller's view, and what is declared
here.
"""

from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django_stubs_ext import StrOrPromise

from common.api.heavy import heavy
from common.files import csv_files, table_files
from common.files.csv_files import UnreadableFile
from common.http_requests import is_cut_short
from panel import uploaded_rows
from panel.base import LoggedInView
from panel.uploaded_rows import Upload


class _UploadView(LoggedInView):
    url_name: str  # of the form; those of the others begin with it
    check_active: Callable[[], None]  # raises if the account or seller is suspended
    url: Callable[..., str]


class UploadForm(_UploadView):
    """The form with the file."""

    template: str
    columns: Iterable[Any]  # the headings
    read: Callable[[bytes, str], Upload]  # content and name of the file; raises UnreadableFile

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show()

    @heavy
    def post(self, request: HttpRequest) -> HttpResponse:
        self.check_active()
        sent = request.FILES.get("file")
        if sent is None:
            is_too_large = is_cut_short(request, field="file", most=table_files.MOST_BYTES)
            too_large = csv_files.too_large(uploaded_rows.MOST_BYTES)
            return self._show(too_large if is_too_large else _("Choose a file."), status=422)
        try:
            csv_files.check_size(sent.size or 0, most=table_files.MOST_BYTES)
            upload = self.read(sent.read(), sent.name or "")
        except UnreadableFile as error:
            return self._show(str(error), status=422)
        return redirect(self.url(f"{self.url_name}_draft", upload.id))

    def _show(self, error: str = "", *, status: int = 200) -> HttpResponse:
        return self.page(
            self.template,
            error=error,
            columns=list(self.columns),
            most_rows=csv_files.MOST_IMPORTED,
            accepted=table_files.ACCEPTED,
            template_url=self.url(f"{self.url_name}_template"),
            status=status,
        )


class UploadPage(_UploadView):
    """The preview, the progress and the result of an upload."""

    template: str
    part: str  # the template of what is replaced while it is worked on
    over: StrOrPromise  # what is said of one that is not kept any more
    find: Callable[[UUID], Upload | None]
    advance: Callable[[UUID], Upload | None]

    def get(self, request: HttpRequest, draft: UUID) -> HttpResponse:
        found = self.find(draft)
        if found is None:
            messages.info(request, str(self.over))
            return redirect(self.url(self.url_name))
        return self.show(found)

    def show(self, upload: Upload, *, is_waiting_for_another: bool = False) -> HttpResponse:
        is_part = bool(self.request.headers.get("HX-Request"))
        return self.page(
            self.part if is_part else self.template,
            draft=upload,
            advance_url=self.url(f"{self.url_name}_advance", upload.id),
            is_waiting_for_another=is_waiting_for_another,
            **self.facts(upload),
        )

    def facts(self, upload: Upload) -> dict[str, Any]:
        """What the templates need besides."""
        return {}

    def found(self, draft: UUID) -> Upload:
        found = self.find(draft)
        if found is None:
            raise Http404
        return found


class AdvanceUpload(UploadPage):
    """The next portion of an upload."""

    http_method_names = ["post"]

    @heavy
    def post(self, request: HttpRequest, draft: UUID) -> HttpResponse:
        self.check_active()
        worked = self.advance(draft)
        found = worked or self.found(draft)
        if not request.headers.get("HX-Request"):
            return redirect(self.url(f"{self.url_name}_draft", draft))
        return self.show(found, is_waiting_for_another=worked is None)


class ConfirmUpload(UploadPage):
    """Have the rows that are ready acted on."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest, draft: UUID) -> HttpResponse:
        self.check_active()
        found = self.found(draft)
        if found.is_checked and not found.is_confirmed:
            found.is_confirmed = True
            found.save()
        return redirect(self.url(f"{self.url_name}_draft", draft))

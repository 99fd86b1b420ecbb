"""Import and export as CSV in the admin, with a preview of what changes."""

from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from unfold.widgets import UnfoldAdminFileFieldWidget

from common import csv_export, csv_file, csv_plan
from common.actors import actor
from common.admin_base import ModelAdmin
from common.csv_file import UnreadableFile
from common.csv_plan import Kind, Plan, Table
from common.uploads import is_cut_short


class UploadForm(forms.Form):
    """The first step: a file, whose size is checked before it is read."""

    import_file = forms.FileField(
        label=gettext_lazy("CSV file"),
        widget=UnfoldAdminFileFieldWidget({"accept": ".csv,text/csv,text/plain"}),
        allow_empty_file=True,  # its fault is named like the others
    )

    def clean_import_file(self) -> Any:
        file = self.cleaned_data["import_file"]
        try:
            csv_file.check_size(file.size)
            return csv_file.decoded(file.read())
        except UnreadableFile as error:
            raise forms.ValidationError(str(error)) from error


class PreviewedForm(forms.Form):
    """The second step: the file's name and text again, and what its preview showed.

    The file is planned anew, so that neither a changed text nor a table that has changed since writes anything that was
    not shown. Nothing is stored between the steps.
    """

    name = forms.CharField(widget=forms.HiddenInput, max_length=255, required=False)
    text = forms.CharField(widget=forms.HiddenInput, strip=False)
    digest = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def clean_text(self) -> str:
        text: str = self.cleaned_data["text"]
        return text.replace("\r\n", "\n")  # browsers send line ends like this


class _OtherPreview(Exception):
    """The import would do something else than its preview showed."""


class _RowPaginator(Paginator):  # type: ignore[type-arg]  # generic for the checker only
    """Counts rows of the table rather than objects of the model."""

    template_name = "admin/tabular_import/pages.html"


class TabularImportAdmin(ModelAdmin):
    """Base of admin screens whose `table` can be exported, edited in a spreadsheet and imported."""

    table: ClassVar[Table]
    simulator: ClassVar[str]  # name of the URL of the page that calculates with the table
    paginator = _RowPaginator
    change_list_template = "admin/tabular_import/change_list.html"

    def record_actor(self, by: str) -> None:
        """Called in the transaction of an import, before anything is written."""

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        views = {"import": self.import_view, "export": self.export_view, "template": self.template_view}
        urls = [path(f"{key}/", self.admin_site.admin_view(view), name=f"{name}_{key}") for key, view in views.items()]
        return [*urls, *super().get_urls()]

    def has_import_permission(self, request: HttpRequest) -> bool:
        """An import changes and adds rows."""
        return self.has_change_permission(request) and self.has_add_permission(request)

    def export_view(self, request: HttpRequest) -> StreamingHttpResponse:
        """The table as it is, in the form in which it can be imported."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return self._download(str(self.opts.model_name), map(self.table.cells, self.table.rows()))

    def template_view(self, request: HttpRequest) -> StreamingHttpResponse:
        """The headings, and the table's first row as an example. Imported unchanged, it changes nothing."""
        if not self.has_import_permission(request):
            raise PermissionDenied
        return self._download(f"{self.opts.model_name}-template", map(self.table.cells, self.table.rows()[:1]))

    def _download(self, name: str, rows: Any) -> StreamingHttpResponse:
        return csv_export.response(name, header=[column.heading for column in self.table.columns], rows=rows)

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """The upload, its preview, and with what the preview holds the import."""
        if not self.has_import_permission(request):
            raise PermissionDenied
        if request.method != "POST":
            return self._page(request, UploadForm())
        if "digest" in request.POST:
            return self._confirmed(request)
        upload = UploadForm(request.POST, request.FILES)
        if is_cut_short(request, field="import_file", most=csv_file.MOST_BYTES):
            upload.errors.clear()
            upload.add_error("import_file", csv_file.too_large())
        if not upload.is_valid():
            return self._page(request, upload)
        text = upload.cleaned_data["import_file"]
        name = str(request.FILES["import_file"].name)  # type: ignore[union-attr]  # one file, as the form says
        return self._page(request, UploadForm(), name=name, text=text, plan=csv_plan.plan(self.table, text))

    def _confirmed(self, request: HttpRequest) -> HttpResponse:
        form = PreviewedForm(request.POST)
        if not form.is_valid():
            messages.error(request, _("The preview is incomplete. Upload the file again."))
            return self._page(request, UploadForm())
        text = form.cleaned_data["text"]
        try:
            plan = self._carry_out(request, text, digest=form.cleaned_data["digest"])
        except _OtherPreview:
            messages.warning(request, _("The table has changed since the preview. This is the new one."))
            name = form.cleaned_data["name"]
            return self._page(request, UploadForm(), name=name, text=text, plan=csv_plan.plan(self.table, text))
        messages.success(request, _("Imported: %(what)s.") % {"what": counted(plan)})
        return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist"))

    @transaction.atomic
    def _carry_out(self, request: HttpRequest, text: str, *, digest: str) -> Plan:
        """Import the file, if that does what the preview with this digest showed. Raises _OtherPreview otherwise."""
        plan = csv_plan.plan(self.table, text, lock=True)
        if plan.faults or plan.digest != digest:
            raise _OtherPreview
        self.record_actor(actor(request))
        try:
            csv_plan.carry_out(plan)
        except IntegrityError as error:  # a row with the same key was added meanwhile
            raise _OtherPreview from error
        self._log(request, plan)
        return plan

    def _log(self, request: HttpRequest, plan: Plan) -> None:
        for kind, flag in ((Kind.NEW, ADDITION), (Kind.CHANGED, CHANGE)):
            rows = [change.row for change in plan.changes if change.kind is kind]
            if rows:
                user: Any = request.user  # logged in, so that it has a key
                LogEntry.objects.log_actions(user.pk, rows, flag, _("By import."))

    def _page(
        self, request: HttpRequest, form: UploadForm, *, name: str = "", text: str = "", plan: Plan | None = None
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("Import"),
            "subtitle": capfirst(str(self.opts.verbose_name_plural)),
            "opts": self.opts,
            "form": form,
            "columns": self.table.columns,
            "plan": plan,
            "counted": plan and counted(plan),
            "name": name,
            "previewed": self._previewed(name, text, plan),
        }
        return TemplateResponse(request, "admin/tabular_import/import.html", context)

    def _previewed(self, name: str, text: str, plan: Plan | None) -> PreviewedForm | None:
        if plan is None or plan.faults or plan.count(Kind.UNCHANGED) == len(plan.changes):
            return None
        return PreviewedForm(initial={"name": name, "text": text, "digest": plan.digest})


def counted(plan: Plan) -> str:
    """How many rows of each kind there are: `1 changed, 46 unchanged`."""
    texts = {
        Kind.NEW: lambda count: ngettext("%(count)s new", "%(count)s new", count),
        Kind.CHANGED: lambda count: ngettext("%(count)s changed", "%(count)s changed", count),
        Kind.UNCHANGED: lambda count: ngettext("%(count)s unchanged", "%(count)s unchanged", count),
    }
    counts = {kind: plan.count(kind) for kind in Kind}
    return ", ".join(texts[kind](count) % {"count": count} for kind, count in counts.items() if count)

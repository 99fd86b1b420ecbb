"""CSV import and export in the admin with django-import-export, within limits of size."""

from typing import Any

from django import forms
from django.core import signing
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from import_export.admin import ImportExportModelAdmin
from import_export.formats.base_formats import CSV
from import_export.forms import ConfirmImportForm
from import_export.tmp_storages import CacheStorage
from unfold.contrib.import_export.forms import ImportForm, SelectableFieldsExportForm

# A preview takes about 2 ms of CPU and 4 kB of page for each row.
MOST_ROWS = 500
MOST_BYTES = 100_000
_SALT = "tabular import"


class BoundedImportForm(ImportForm):
    """An upload of at most MOST_ROWS lines below the header and MOST_BYTES bytes."""

    def clean_import_file(self) -> Any:
        file = self.cleaned_data["import_file"]
        if file.size > MOST_BYTES or sum(chunk.count(b"\n") for chunk in file.chunks()) > MOST_ROWS + 1:
            limits = {"rows": MOST_ROWS, "kilobytes": MOST_BYTES // 1000}
            raise forms.ValidationError(_("At most %(rows)s rows and %(kilobytes)s kB at once.") % limits)
        file.seek(0)
        return file


class SignedConfirmForm(ConfirmImportForm):
    """The second step, which accepts only names of uploads that the first step has signed."""

    def clean_import_file_name(self) -> str:
        try:
            name: str = signing.loads(self.cleaned_data["import_file_name"], salt=_SALT)
        except signing.BadSignature:
            name = ""
        if not name or CacheStorage(name=name).read() is None:
            raise forms.ValidationError(_("This preview is no longer kept. Upload the file again."))
        return name

    def clean_format(self) -> str:
        if self.cleaned_data["format"] != "0":  # the only one of `formats` below
            raise forms.ValidationError(_("Choose one of the formats offered."))
        return "0"

    def clean_resource(self) -> str:
        return ""  # each screen has a single resource


class TabularImportAdmin(ImportExportModelAdmin):
    """Base of admin screens with import and export as CSV."""

    import_form_class = BoundedImportForm
    confirm_form_class = SignedConfirmForm
    export_form_class = SelectableFieldsExportForm
    formats = [CSV]
    # The package's default opens and deletes any file of the temporary folder that the second step names.
    tmp_storage_class = CacheStorage  # type: ignore[assignment]  # annotated as None

    def has_import_permission(self, request: HttpRequest) -> bool:
        """An import changes and adds rows. The library checks the permission to change, see the settings."""
        return super().has_import_permission(request) and self.has_add_permission(request)

    def get_confirm_form_initial(self, request: HttpRequest, import_form: Any) -> dict[str, Any]:
        initial: dict[str, Any] = super().get_confirm_form_initial(request, import_form)
        if initial:
            initial["import_file_name"] = signing.dumps(initial["import_file_name"], salt=_SALT)
        return initial

    def get_valid_export_item_pks(self, request: HttpRequest) -> Any:
        # The library calls its own version of this, which then warns that it is deprecated.
        return self.get_queryset(request).values_list("pk", flat=True)

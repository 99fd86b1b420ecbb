"""Tables that are exported as files, edited in a spreadsheet and imported in the admin, with django-import-export.

The library compares and writes rows. Of our own are the reading of files, because the library limits no sizes and knows
one separator and one encoding, and the check that an import does what its preview showed: the library imports what is
in the file by then, compared with the table by then, and leaves out rows that have become invalid.
"""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal
from functools import cached_property, partial
from typing import Any, ClassVar
from uuid import UUID, uuid4

import pghistory
from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.paginator import Paginator
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.text import format_lazy
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from import_export.admin import ImportMixin
from import_export.fields import Field
from import_export.formats.base_formats import CSV
from import_export.forms import ConfirmImportForm
from import_export.instance_loaders import BaseInstanceLoader
from import_export.resources import ModelResource
from import_export.results import Result, RowResult
from import_export.tmp_storages import BaseStorage
from import_export.widgets import Widget
from tablib import Dataset
from unfold.contrib.import_export.forms import ImportForm

from common import clock
from common.actors import actor
from common.admin.base import ModelAdmin
from common.api.heavy import heavy
from common.files import csv_files, kept_uploads, table_files
from common.files.csv_files import Cell, UnreadableFile, comparable, in_every_language
from common.files.table_files import Column
from common.http_requests import is_cut_short
from common.measures import NUMBER, rise, shown, with_value
from common.postgresql.row_history import Difference

_LINE = ""  # heading of the number of the file's line in a Dataset; no column of a file has it


class FormFieldWidget(Widget):
    """A cell that is read and written as a field of the admin's form. An empty one is None."""

    def __init__(self, field: forms.Field) -> None:
        super().__init__()
        self._field = field

    def clean(self, value: str, row: Any = None, **kwargs: Any) -> Any:
        """Raises ValueError, which the library shows with the line and the column."""
        try:
            return self._field.clean(value) if value else None
        except forms.ValidationError as error:
            raise ValueError(with_value(value, " ".join(error.messages))) from error

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> str:
        return "" if value is None else str(self._field.prepare_value(value))


class ChoiceWidget(Widget):
    """A value or its label, in any of the site's languages, without regard to case and accents."""

    def __init__(self, choices: Iterable[tuple[str, Any]]) -> None:
        super().__init__()
        self._choices = dict(choices)

    @cached_property
    def _values(self) -> dict[str, str]:
        labels = {text: value for value, label in self._choices.items() for text in in_every_language(label)}
        return labels | {comparable(value): value for value in self._choices}

    def clean(self, value: str, row: Any = None, **kwargs: Any) -> str | None:
        found = self._values.get(comparable(value)) if value else None
        if value and found is None:
            detail = {"text": shown(value), "choices": ", ".join(map(str, self._choices.values()))}
            raise ValueError(_("'%(text)s' is none of: %(choices)s") % detail)
        return found

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> str:
        return str(self._choices.get(value, value))


class _AllRows(BaseInstanceLoader):
    """Reads the table once. The library's own loader reads it for each row of the file."""

    def __init__(self, resource: "TableResource", dataset: Any = None) -> None:
        super().__init__(resource, dataset)
        rows = resource.get_queryset()
        rows = rows.select_for_update(of=("self",)) if resource.is_locking else rows
        self._key = [resource.fields[name] for name in resource.get_import_id_fields()]
        self._rows = {tuple(field.get_value(row) for field in self._key): row for row in rows}
        self._lines: dict[tuple[Any, ...], int] = {}

    def get_instance(self, row: Any) -> Any:
        """The table's row, or None if there is none. Raises ValidationError if the file names it twice."""
        try:
            key = tuple(field.clean(row) for field in self._key)
        except ValueError:
            return None  # shown when all cells of the row are read
        if key in self._lines:
            raise ValidationError(_("repeats line %(line)s") % {"line": self._lines[key]})
        self._lines[key] = row[_LINE]
        return self._rows.get(key)


class Preview(Result):
    """What an import changes, or the faults in its file."""

    def append_invalid_row(self, number: int, row: Any, validation_error: ValidationError) -> None:
        super().append_invalid_row(row[_LINE], row, validation_error)

    def append_error_row(self, number: int, row: Any, errors: list[Any]) -> None:
        """An error that is no ValidationError is a defect. The library would show its message."""
        raise errors[0].error

    @property
    def changing(self) -> list[RowResult]:
        return [row for row in self.rows if row.is_new() or row.is_update()]

    @property
    def unchanged(self) -> list[RowResult]:
        return [row for row in self.rows if row.is_skip()]

    @property
    def largest_rise(self) -> int:
        """Percent by which the price that rises most does; 0 if none rises."""
        return max([0, *(cell.rise or 0 for row in self.changing for cell in row.cells)])

    @property
    def counted(self) -> str:
        new, changed, unchanged = (self.totals[kind] for kind in ("new", "update", "skip"))
        text = _("new: %(new)s, changed: %(changed)s, unchanged: %(unchanged)s")
        return text % {"new": new, "changed": changed, "unchanged": unchanged}

    @property
    def digest(self) -> str:
        """Equal for previews that do the same, in whatever language they are shown."""
        rows = [(row.import_type, row.values) for row in self.rows if row.is_valid()]
        return hashlib.sha256(repr(rows).encode()).hexdigest()


class TableResource(ModelResource):
    """Base of the tables. A model's field is a column, headed by its name and its unit; `Meta` excludes the others.

    Rows are identified by `Meta.import_id_fields` and not by id, so that a file made elsewhere can be imported. Rows of
    the table that the file does not name stay as they are. A declared field whose name is not its attribute is a
    further column that is accepted for the attribute, and not written.
    """

    other_names: ClassVar[dict[str, tuple[Any, ...]]] = {}  # further headings under which a field is accepted

    class Meta:
        use_bulk = True
        skip_unchanged = True
        report_skipped = True
        store_instance = True
        skip_html_diff = True  # has inline styles, which the policy of the pages refuses
        instance_loader_class = _AllRows

    def __init__(self, *, is_locking: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.is_locking = is_locking

    @classmethod
    def get_result_class(cls) -> type[Preview]:
        return Preview

    @classmethod
    def field_from_django_field(cls, field_name: str, django_field: Any, readonly: bool) -> Field:
        unit = getattr(django_field, "unit", None)
        name = django_field.verbose_name
        return Field(
            attribute=field_name,
            column_name=format_lazy("{} ({})", name, unit.name) if unit and unit.name else name,
            widget=ChoiceWidget(django_field.choices)
            if django_field.choices
            else FormFieldWidget(django_field.formfield()),
            default=django_field.default,
        )

    def in_file(self, headings: list[str]) -> list[Field]:
        """The field of each heading of a file. Raises UnreadableFile if one is unknown, repeated or missing."""
        columns = {field.attribute: field for field in self.get_export_fields()}
        known: dict[str, Field] = {}
        for name, field in reversed(self.fields.items()):  # the further columns first
            texts = [field.column_name, *self.other_names.get(name, ())]
            if name in columns:
                texts.append(self._model_field(name).verbose_name)
                texts += [name] if getattr(self._model_field(name), "unit", NUMBER).factor == 1 else []
            for each in texts:
                known |= dict.fromkeys(in_every_language(each) - known.keys(), field)
        found: dict[str, Field] = {}
        for heading in headings:
            field = known.get(comparable(heading))
            if field is None:
                names = ", ".join(str(each.column_name) for each in columns.values())
                detail = {"heading": shown(heading), "known": names}
                raise UnreadableFile(_("Unknown column '%(heading)s'. Known: %(known)s.") % detail)
            if field.attribute in found:
                raise UnreadableFile(_("The column '%(heading)s' occurs twice.") % {"heading": shown(heading)})
            found[field.attribute] = field
        absent = [name for name in columns if name not in found and not self._may_be_absent(name)]
        missing = [str(columns[name].column_name) for name in absent]
        if missing:
            raise UnreadableFile(_("Columns are missing: %(names)s.") % {"names": ", ".join(missing)})
        return list(found.values())

    @property
    def columns(self) -> list[Column]:
        """The columns of an exported file. Figures are numbers, written with the decimal places of their unit."""

        def cell(field: Field) -> Callable[[Any], Cell]:
            unit = getattr(self._model_field(field.attribute), "unit", None)

            def of_row(row: Any) -> Cell:
                value = field.get_value(row)
                if unit is None or value is None:
                    return value if isinstance(value, int) else str(field.export(row))
                return Decimal(unit.number(value).replace(",", "."))

            return of_row

        return [(str(field.column_name), cell(field)) for field in self.get_export_fields()]

    def _may_be_absent(self, name: str) -> bool:
        field = self._model_field(name)
        return name not in self.get_import_id_fields() and (field.null or field.has_default())

    def _model_field(self, name: str) -> Any:
        return self._meta.model._meta.get_field(name)

    def get_export_fields(self, selected_fields: Any = None) -> list[Field]:
        return [field for name, field in self.fields.items() if name == field.attribute]

    get_user_visible_fields = get_export_fields

    def get_bulk_update_fields(self) -> list[str]:
        return [field.attribute for field in self.get_export_fields()]

    def handle_import_error(self, result: Any, error: Exception, raise_errors: bool = False) -> None:
        raise error

    def validate_instance(
        self, instance: Any, import_validation_errors: Any = None, validate_unique: bool = True
    ) -> None:
        """Validate as `full_clean` does, without its queries for each row. Raises ValidationError, by heading."""
        errors = dict(import_validation_errors or {})  # which name the values of their cells
        relations = {each.name for each in instance._meta.concrete_fields if each.is_relation}  # looked up by widgets
        try:
            instance.clean_fields(exclude={*errors, *relations})
        except ValidationError as error:
            errors |= {name: self._with_value(instance, name, found) for name, found in error.error_dict.items()}
        if errors:
            raise ValidationError({str(self.fields[name].column_name): found for name, found in errors.items()})

    def _with_value(self, instance: Any, name: str, errors: Any) -> list[str]:
        text = "" if getattr(instance, name) is None else str(self.fields[name].export(instance))
        return [with_value(text, message) for message in ValidationError(errors).messages]

    def save_instance(self, instance: Any, is_create: bool, row: Any, **kwargs: Any) -> None:
        """A preview writes nothing, so that it waits for nobody. The library would roll its writing back."""
        if not kwargs["dry_run"]:
            super().save_instance(instance, is_create, row, **kwargs)

    def after_import_row(self, row: Any, row_result: RowResult, **kwargs: Any) -> None:
        before, after = row_result.original, row_result.instance
        row_result.line, row_result.cells = row[_LINE], list(self._changed(before, after))
        row_result.values = [(field.get_value(before), field.get_value(after)) for field in self.get_export_fields()]

    def _changed(self, before: Any, after: Any) -> Iterator[Difference]:
        """The cells that tell what happens to a row: those that change, or all figures of a new one, without `old`."""
        key = self.get_import_id_fields()
        for field in self.get_export_fields():
            old, new = None if before is None else field.export(before), field.export(after)
            if field.attribute not in key and (old or "") != new:
                unit = getattr(self._model_field(field.attribute), "unit", None)
                is_price = unit and unit.is_money and before is not None
                percent = rise(field.get_value(before), field.get_value(after)) if is_price else None
                yield Difference(str(field.column_name), old, new, percent)

    def after_import(self, dataset: Any, result: Any, **kwargs: Any) -> None:
        """Does not set the sequence of ids as the library does, because no ids are imported."""


class TableFile(CSV):
    """A CSV file or a workbook as spreadsheets write it, with the headings of a resource."""

    def __init__(self, resource: type[TableResource], encoding: str | None = None) -> None:
        super().__init__(encoding)
        self._resource = resource

    def is_binary(self) -> bool:
        return True  # the library does not decode it

    def create_dataset(self, in_stream: bytes, **kwargs: Any) -> Dataset:
        """Raises UnreadableFile."""
        headings, *rows = table_files.read(in_stream)
        fields = self._resource().in_file(headings.cells)
        dataset = Dataset(headers=[*(str(field.column_name) for field in fields), _LINE])
        for row in rows:
            if any(row.cells[len(fields) :]):
                raise UnreadableFile(_("Line %(line)s: more cells than headings") % {"line": row.number})
            cells = [*row.cells, *[""] * len(fields)][: len(fields)]
            dataset.append([*cells, row.number])
        return dataset


class UploadForm(ImportForm):
    """The first step: a file, whose size is checked before it is read."""

    media = forms.Media()  # the library's guesses the format

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["import_file"].widget.attrs["accept"] = table_files.ACCEPTED
        self.fields["format"].widget = forms.HiddenInput()  # there is one

    def clean_import_file(self) -> Any:
        file = self.cleaned_data["import_file"]
        try:
            csv_files.check_size(file.size, most=table_files.MOST_BYTES)
        except UnreadableFile as error:
            raise forms.ValidationError(str(error)) from error
        return file


class ConfirmForm(ConfirmImportForm):
    """The second step: the id of the kept upload, and what its preview showed."""

    import_file_name = forms.UUIDField(widget=forms.HiddenInput)
    digest = forms.CharField(widget=forms.HiddenInput, max_length=64)

    def clean_import_file_name(self) -> UUID:
        """The id. The library's takes the last part of a path."""
        return self.cleaned_data["import_file_name"]


class _OfTheRequest(BaseStorage):
    """What the library reads back within the request. What has no faults is kept by `TabularImportAdmin`."""

    content = b""

    def save(self, data: bytes) -> None:
        self.content = data

    def read(self) -> bytes:
        return self.content


class _RowPaginator(Paginator):  # type: ignore[type-arg]  # generic for the checker only
    """Counts rows of the table rather than objects of the model."""

    template_name = "admin/tabular_import/pages.html"


class TabularImportAdmin(ImportMixin, ModelAdmin):
    """Base of admin screens whose table can be exported, edited in a spreadsheet and imported."""

    resource: type[TableResource]
    paginator = _RowPaginator
    import_export_change_list_template = "admin/tabular_import/change_list.html"
    import_form_class = UploadForm
    confirm_form_class = ConfirmForm
    tmp_storage_class = _OfTheRequest

    def get_urls(self) -> list[URLPattern]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        views = {"export": self.export_view, "template": self.template_view}
        urls = [path(f"{key}/", self.admin_site.admin_view(view), name=f"{name}_{key}") for key, view in views.items()]
        return [*urls, *super().get_urls()]

    def has_import_permission(self, request: HttpRequest) -> bool:
        """An import changes and adds rows. The library asks for no permission by itself."""
        return self.has_change_permission(request) and self.has_add_permission(request)

    @heavy
    def export_view(self, request: HttpRequest) -> StreamingHttpResponse:
        """The table as it is, in the form in which it can be imported."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        return self._download(request, str(self.opts.model_name), self.resource().get_queryset())

    def template_view(self, request: HttpRequest) -> StreamingHttpResponse:
        """The headings, and the table's first row as an example. Imported unchanged, it changes nothing."""
        if not self.has_import_permission(request):
            raise PermissionDenied
        return self._download(request, f"{self.opts.model_name}-template", self.resource().get_queryset()[:1])

    def _download(self, request: HttpRequest, name: str, rows: Any) -> StreamingHttpResponse:
        """Not by the library: its file would lack the `=` that begins a cell, and keep `+`, `-` and `@`."""
        return table_files.response(request, name, columns=self.resource().columns, rows=rows)

    def get_import_resource_classes(self, request: HttpRequest) -> list[type[TableResource]]:
        return [self.resource]

    def get_import_formats(self) -> list[Any]:
        return [partial(TableFile, self.resource)]

    def create_import_form(self, request: HttpRequest) -> UploadForm:
        form: UploadForm = super().create_import_form(request)
        if is_cut_short(request, field="import_file", most=table_files.MOST_BYTES):
            form.errors.clear()
            form.add_error("import_file", csv_files.too_large(table_files.MOST_BYTES))
        return form

    def add_data_read_fail_error_to_form(self, form: UploadForm, e: Exception) -> None:
        if not isinstance(e, UnreadableFile):
            raise e
        form.add_error("import_file", str(e))

    @heavy
    def import_action(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """The upload and its preview."""
        response = super().import_action(request, **kwargs)
        context = response.context_data
        if "confirm_form" in context:
            if context["result"].changing:
                file = context["form"].cleaned_data["import_file"]
                file.seek(0)
                kept = kept_uploads.keep_file(file.read(), **self._kept_for(request))
                context["confirm_form"].initial |= {"digest": context["result"].digest, "import_file_name": str(kept)}
            else:
                del context["confirm_form"]
        return response

    def _kept_for(self, request: HttpRequest) -> dict[str, Any]:
        return {"owner": f"user {request.user.pk}", "kind": self.opts.label_lower, "at": clock.now()}

    @heavy
    @method_decorator(require_POST)
    def process_import(self, request: HttpRequest, **kwargs: Any) -> HttpResponse:
        """Import the file if that does what its preview showed. Otherwise show the preview of now."""
        if not self.has_import_permission(request):
            raise PermissionDenied
        form = self.create_confirm_form(request)
        upload = form.cleaned_data["import_file_name"] if form.is_valid() else uuid4()
        content = kept_uploads.find_file(upload, **self._kept_for(request)) or b""
        try:
            dataset = TableFile(self.resource).create_dataset(content)
        except UnreadableFile:
            messages.error(request, _("The preview is incomplete or too old. Upload the file again."))
            return HttpResponseRedirect(reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_import"))
        with transaction.atomic(), pghistory.context(by=actor(request)):
            try:
                result = self.resource(is_locking=True).import_data(dataset, rollback_on_validation_errors=True)
                is_as_shown = not result.has_validation_errors() and result.digest == form.cleaned_data["digest"]
            except IntegrityError:  # a row with the same key was added meanwhile
                is_as_shown = False
            if is_as_shown:
                kept_uploads.remove(upload)
                return self.process_result(result, request)
            transaction.set_rollback(True)
        messages.warning(request, _("The table has changed since the preview. This is the new one."))
        request.FILES["import_file"] = SimpleUploadedFile(form.cleaned_data["original_file_name"], content)
        return self.import_action(request)

    def generate_log_entries(self, result: Preview, request: HttpRequest) -> None:
        user: Any = request.user  # logged in, so that it has a key
        for kind, flag in (("new", ADDITION), ("update", CHANGE)):
            rows = [row.instance for row in result.rows if row.import_type == kind]
            if rows:
                LogEntry.objects.log_actions(user.pk, rows, flag, _("By import."))

    def add_success_message(self, result: Preview, request: HttpRequest) -> None:
        messages.success(request, _("Imported: %(what)s.") % {"what": result.counted})

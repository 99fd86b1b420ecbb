"""The filter of a list by a row of another table, which people search for."""

from unfold.contrib.filters.admin import AutocompleteSelectFilter
from unfold.contrib.filters.forms import AutocompleteDropdownForm


class _Form(AutocompleteDropdownForm):  # type: ignore[misc]  # untyped
    """With the script that Django's own fields load, so that a page with both does not load it twice."""

    class Media:
        extend = False
        js = (
            "admin/js/vendor/jquery/jquery.min.js",
            "admin/js/vendor/select2/select2.full.min.js",
            "admin/js/jquery.init.js",
            "unfold/js/select2.init.js",
        )
        css = {"screen": ("admin/css/vendor/select2/select2.css", "admin/css/autocomplete.css")}


class LookUpFilter(AutocompleteSelectFilter):  # type: ignore[misc]  # untyped
    form_class = _Form

"""What the screens share."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest


def actor(request: HttpRequest) -> str:
    """Who acts, as it is written into histories."""
    return f"user {request.user.get_username()}"


class Unchangeable:
    """Mixin: looked at, never added, edited or deleted by hand."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyInline(Unchangeable, admin.TabularInline[Any, Any]):
    """Rows of another table, to be looked at."""

    extra = 0
    show_change_link = False

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields  # a form cannot be made of fields that are not editable anywhere

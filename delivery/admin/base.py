"""What the screens share."""

from typing import Any, TypeVar

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

M = TypeVar("M", bound=Model)


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

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return self.fields or ()

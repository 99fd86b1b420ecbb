"""The Django apps of the areas: a core in layers, and leaves, which are folders of the same app."""

from importlib import import_module
from typing import ClassVar

from django.apps import AppConfig
from django.utils.module_loading import module_has_submodule


class AreaConfig(AppConfig):
    """Imports models and admin screens of the leaves, which Django looks for in the folder of the app only."""

    default = False
    leaves: ClassVar[tuple[str, ...]] = ()  # the folders

    def import_models(self) -> None:
        super().import_models()
        self._import("models")

    def ready(self) -> None:
        """Make the outbox known, see `outbox_of`."""
        import_module(f"{self.name}.webhooks.outbox")
        self._import("admin")

    def _import(self, module: str) -> None:
        for leaf in self.leaves:
            if module_has_submodule(import_module(f"{self.name}.{leaf}"), module):
                import_module(f"{self.name}.{leaf}.{module}")

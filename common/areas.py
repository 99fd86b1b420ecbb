"""The Django apps of the areas: a core in layers, and leaves, which are folders of the same app."""

from importlib import import_module
from pathlib import Path

from django.apps import AppConfig


class AreaConfig(AppConfig):
    """Imports models and admin screens of the leaves, which Django looks for in the folder of the app only."""

    default = False

    def import_models(self) -> None:
        super().import_models()
        self._import("models")

    def ready(self) -> None:
        """Make the outbox known, see `outbox_of`."""
        import_module(f"{self.name}.webhooks.outbox")
        self._import("admin")

    def _import(self, module: str) -> None:
        for path in sorted(Path(self.path).glob(f"*/{module}.py")):
            import_module(f"{self.name}.{path.parent.name}.{module}")

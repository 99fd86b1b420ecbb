"""Texts of Django's admin whose own Portuguese supposes that every name is masculine, listed to be translated here."""

from django.utils.translation import gettext_noop

TEXTS = (
    gettext_noop("The {name} “{obj}” was added successfully."),
    gettext_noop("The {name} “{obj}” was added successfully. You may add another {name} below."),
    gettext_noop("The {name} “{obj}” was changed successfully."),
    gettext_noop("The {name} “{obj}” was changed successfully. You may edit it again below."),
    gettext_noop("The {name} “{obj}” was changed successfully. You may add another {name} below."),
    gettext_noop("The %(name)s “%(obj)s” was deleted successfully."),
    gettext_noop("Add another %(verbose_name)s"),
    gettext_noop("Add another %(model)s"),
)

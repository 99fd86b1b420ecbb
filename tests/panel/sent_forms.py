from typing import Any

from lxml.html import HtmlElement, document_fromstring


def form_of(page: Any) -> HtmlElement:
    """The form of an order on a page."""
    found: Any = document_fromstring(page.content.decode()).xpath('//form[starts-with(@class, "request")]')
    form: HtmlElement
    (form,) = found
    return form


def filled(page: Any, **typed: Any) -> dict[str, Any]:
    """What a browser sends of the form of an order, once a person has typed this into its fields."""
    sent = {str(name): value or "" for name, value in form_of(page).fields.items()}
    assert sent.keys() >= typed.keys() - {"step", "agreed"}
    return {**sent, **typed}

"""The receiver of an order: e-mail messages, and the page that their link leads to."""

"""Saving the admin's forms of prices, which show what they change before it is saved."""


def preview_of(client, url, data):
    """The preview that the form shows for these values."""
    return client.post(url, data).context["adminform"].form.preview


def save(client, url, data):
    """The response to the form that is sent again with its preview."""
    return client.post(url, {**data, "previewed": preview_of(client, url, data).digest})

"""Where the field names of samples come from."""


def leaves(sources):
    return {name for names in sources.values() for name in names}


def without_source(body, sources):
    """Paths of objects' keys in `body` that no source names. The keys in lists, which have one each, are left out."""
    named = leaves(sources)
    return sorted(path for path in _paths(body, "") if path not in named)


def _paths(value, prefix):
    for key, inner in value.items():
        path = f"{prefix}{key}"
        if key != "data":
            yield path
        if isinstance(inner, dict):
            yield from _paths(inner, f"{path}.")

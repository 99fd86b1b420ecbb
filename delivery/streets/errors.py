"""Why a map cannot be copied. Pages translate the messages."""

from django.utils.translation import gettext_noop as _

from common.errors import DomainError

# Of all tiles that are copied.
MOST_BYTES = 1024**3


class MapNotCopied(DomainError):
    """No map was copied; the map file is as it was."""


class SourceRefused(MapNotCopied):
    """The address, or one that it redirects to, is in a private network, or is none of https."""

    code = "map_source_refused"
    message = _("The address of the map, or one that it leads on to, is not on the public internet or not https.")


class SourceAway(MapNotCopied):
    code = "map_source_away"
    message = _("The server of the map did not answer, was too slow or broke off. What was copied so far is kept.")


class SourceMissing(MapNotCopied):
    code = "map_source_missing"
    message = _("The server of the map does not have it.")


class NoRanges(MapNotCopied):
    code = "map_without_ranges"
    message = _("The server of the map does not send parts of files.")


class SourceChanged(MapNotCopied):
    code = "map_changed"
    message = _("The map was replaced on its server while it was copied. Copy it again.")


class SourceUnreadable(MapNotCopied):
    code = "map_unreadable"
    message = _("The file on the server is no map of vector tiles in the format PMTiles, version 3, with gzip.")


class PlaceMissing(MapNotCopied):
    code = "map_without_place"
    message = _("The map has no tiles of this place.")


class TooLarge(MapNotCopied):
    code = "map_too_large"
    message = _("The streets of these places are larger than 1 GB. Copy fewer places, or less around them.")


class NoRoom(MapNotCopied):
    code = "map_no_room"
    message = _("The disk has no room for the map.")


class NotWritten(MapNotCopied):
    code = "map_not_written"
    message = _("The map cannot be written into the folder of the data, DATA_DIR.")


class AlreadyCopying(MapNotCopied):
    code = "map_is_copied"
    message = _("A map is being copied already.")


class Stopped(MapNotCopied):
    code = "map_stopped"
    message = _("The copying was stopped. What was copied so far is kept.")


BY_CODE = {kind.code: kind for kind in MapNotCopied.__subclasses__()}

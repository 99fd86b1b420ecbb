"""Domain errors of drivers' phones: log-in, positions, moves and proof. Pages and the phone show their texts."""

from delivery.errors import DeliveryError


class LogInLinkUnusable(DeliveryError):
    """Logging in with a link that is unknown, was used, or has expired, or whose driver no longer works for us."""

    code = "log_in_link_unusable"
    title = "The link cannot be used"
    status = 410


class LogInLinkUnknown(LogInLinkUnusable):
    """Logging in with a link that nobody issued."""


class NotOnDuty(DeliveryError):
    """Reporting positions while off duty and without a route."""

    code = "not_on_duty"
    title = "The driver is off duty"
    status = 409


class OtherPhoneReports(DeliveryError):
    """Reporting positions from a phone while another one of the driver does."""

    code = "other_phone_reports"
    title = "Another phone reports the driver's positions"
    status = 409


class NotYourRoute(DeliveryError):
    """A move of a route that the driver does not hold."""

    code = "not_your_route"
    title = "The route is not the driver's"


class RouteStillOpen(DeliveryError):
    """Going off duty, or changing what the route was given for, while holding one."""

    code = "route_still_open"
    title = "The driver holds a route"
    status = 409


class InvalidReport(DeliveryError):
    """A report whose form the service does not understand."""

    code = "invalid_report"
    title = "The report is not valid"
    status = 422


class PhotoTooLarge(DeliveryError):
    """Sending a photo over the limit of bytes."""

    code = "photo_too_large"
    title = "The photo is too large"
    status = 413


class InvalidPhoto(DeliveryError):
    """Sending something that is no photo, or one that costs too much to read."""

    code = "invalid_photo"
    title = "The photo cannot be used"


class PhotosBusy(DeliveryError):
    """Sending a photo while the service reads others, or while its disk has no space for one."""

    code = "photos_busy"
    title = "No photo can be taken in now"
    status = 503
    retryable = True


class TooManyPhotos(DeliveryError):
    """Sending more photos of a stop than are kept."""

    code = "too_many_photos"
    title = "The point has enough photos"


class PhotoTooLate(DeliveryError):
    """Sending a photo long after the end of the route."""

    code = "photo_too_late"
    title = "The route ended long ago"


class PhotoRequired(DeliveryError):
    """Delivering a stop without the photo that its request asked for."""

    code = "photo_required"
    title = "A photo is required"


class PinRequired(DeliveryError):
    """Delivering a stop without the PIN that its request asked for."""

    code = "pin_required"
    title = "The receiver's PIN is required"


class WrongPin(DeliveryError):
    """Delivering a stop with a PIN that is not the receiver's."""

    code = "wrong_pin"
    title = "The PIN is wrong"


class PinLocked(DeliveryError):
    """Delivering a stop after too many wrong PINs."""

    code = "pin_locked"
    title = "Too many wrong PINs"


class PhotoNotFound(DeliveryError):
    """An address of a photo that has expired or was changed, or whose photo was deleted. All are answered alike."""

    code = "photo_not_found"
    title = "Photo not found"
    status = 404

"""Error codes of immediate delivery and of its sandbox. Pure."""

from panel.guide.catalogue.entry import ErrorCode

CODES = (
    # Of deliveries.
    ErrorCode(
        "price_unavailable",
        400,
        "No active tariff serves the vehicle, or distance, weight, longest side or volume is over the "
        "tariff's maximum. "
        "'detail' names both figures.",
        "Ask for the other vehicleType, or split the delivery.",
    ),
    ErrorCode(
        "pickup_not_linked",
        404,
        "pickup.address is not within the radius of an active pickup point of the account. 'detail' names the nearest.",
        "Compare the coordinates with the pickup points on the panel's overview; the operator adds new ones.",
    ),
    ErrorCode(
        "quote_expired",
        422,
        "The Quote-Id is older than ten minutes.",
        "Quote again and send the new Quote-Id.",
    ),
    ErrorCode(
        "quote_mismatch",
        422,
        "The Quote-Id is for another trip, account or environment, or is not one that a quote was answered with.",
        "Quote exactly what you request, and send that Quote-Id.",
    ),
    ErrorCode(
        "delivery_not_found",
        404,
        "This account and environment have no delivery with this deliveryId.",
        "Check the id and whether the token is of the same environment, live or sandbox.",
    ),
    ErrorCode(
        "invalid_delivery_id",
        422,
        "The deliveryId is not a UUID (cancel-delivery).",
        "Send the deliveryId that request-delivery answered with.",
    ),
    ErrorCode(
        "already_finished",
        422,
        "The delivery has ended, so nothing is left to cancel.",
        "Read how it ended.",
    ),
    ErrorCode(
        "photo_not_found",
        404,
        "The address of the photo was changed or is older than an hour, or the photo was deleted.",
        "Read the delivery again, which has a new address.",
    ),
    # Of the sandbox.
    ErrorCode(
        "too_many_simulations",
        429,
        "Simulated drivers move as many deliveries of the account as they do at once, 500 (sandbox).",
        "Call again when others have ended; most take two minutes, or less with Sandbox-Speed.",
    ),
    ErrorCode(
        "pin_required",
        422,
        "The request asked for a PIN, and the body has none (sandbox).",
        "Send the pin that the delivery shows.",
    ),
    ErrorCode(
        "wrong_pin",
        422,
        "The PIN is not the one of this drop-off (sandbox). After five wrong ones none is taken.",
        "Send the pin that the delivery shows.",
    ),
    ErrorCode(
        "pin_locked",
        422,
        "There were five wrong PINs, so a driver cannot deliver this drop-off (sandbox).",
        "Deliver it without receivedBy and pin, as a dispatcher does.",
    ),
    ErrorCode(
        "invalid_sandbox_speed",
        422,
        "The header Sandbox-Speed is not a number from 1 to 120.",
        "Correct it.",
    ),
    ErrorCode(
        "move_refused",
        422,
        "The delivery's state does not allow this move now (sandbox).",
        "Read the delivery's status and make the moves in their order.",
    ),
    ErrorCode("route_taken", 422, "The delivery was accepted already (sandbox).", "Go on with the next move."),
    ErrorCode("offer_expired", 422, "The offer has expired (sandbox).", "Request a new delivery."),
    ErrorCode(
        "stop_not_found",
        422,
        "The route has no drop-off with this letter (sandbox).",
        "Use B, C or D, as far as the route has them.",
    ),
    ErrorCode(
        "stop_not_open",
        422,
        "The drop-off was delivered or failed already (sandbox).",
        "Go on with another one.",
    ),
    ErrorCode(
        "no_driver_assigned",
        422,
        "No driver holds the route, so no position can be set (sandbox).",
        "Accept it first.",
    ),
)

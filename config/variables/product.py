"""Variables of what the product does: routes, offers, drivers, photos, limits and maps."""

from config import value_checks
from config.variables.variable import Variable

PRODUCT = (
    Variable(
        "ROUTING_URL",
        "URL of a routing engine, for prices and arrival times; without an answer within 2 s the geodesic "
        "distance is used",
        without="geodesic distance",
        check=value_checks.url("http", "https"),
        may_be_empty=True,
    ),
    Variable(
        "ROUTING_ENGINE",
        "what is at `ROUTING_URL`: `osrm` (one profile for both vehicles) or `valhalla` (costing `motorcycle` or "
        "`auto`)",
        default="osrm",
        check=value_checks.one_of("osrm", "valhalla"),
    ),
    Variable(
        "GEOCODER_URL",
        "https URL of a server with the search of Nominatim, by which staff find a pickup place by address or "
        "CEP. What is searched for is sent to it. Without an answer within 3 s, or without a server, people paste"
        " coordinates or a map link, or click on the map",
        without="none",
        check=value_checks.url("https"),
        may_be_empty=True,
    ),
    Variable(
        "SERVICE_AREA",
        "boxes within which points are served, in degrees: `south,west,north,east; south,west,north,east`",
        without="Brazil",
        check=value_checks.boxes,
    ),
    Variable(
        "ROAD_FACTOR",
        "road kilometres per geodesic kilometre, 1 to 10",
        default="1.3",
        check=value_checks.number(1, 10),
    ),
    Variable(
        "ROUTING_TIME_FACTOR_MOTORCYCLE",
        "what a routing engine's travel times are multiplied by, 0.5 to 5; without data of traffic they are those"
        " of free streets. 1 for an engine with such data",
        default="1.4",
        check=value_checks.number(0.5, 5),
    ),
    Variable("ROUTING_TIME_FACTOR_CAR", "likewise, of a car", default="1.7", check=value_checks.number(0.5, 5)),
    Variable(
        "SPEED_KMH_MOTORCYCLE",
        "average speed in km/h from which arrival times are computed without a routing engine, 1 to 200; the way "
        "is the geodesic distance times `ROAD_FACTOR`",
        default="25",
        check=value_checks.number(1, 200),
    ),
    Variable("SPEED_KMH_CAR", "likewise, of a car", default="20", check=value_checks.number(1, 200)),
    Variable(
        "SERVICE_MINUTES_PICKUP",
        "minutes that a driver spends at A, 0 to 240, for arrival times",
        default="4",
        check=value_checks.number(0, 240),
    ),
    Variable("SERVICE_MINUTES_STOP", "likewise, at each stop", default="3", check=value_checks.number(0, 240)),
    Variable(
        "OFFER_TTL",
        "minutes until an offer expires that no driver has accepted",
        default="60",
        check=value_checks.number(0.01, 525_600),
    ),
    Variable(
        "DISPATCH_RADIUS_KM",
        "greatest distance in km from A to an eligible driver with a fresh position",
        default="15",
        check=value_checks.number(0.01, 20_040),
    ),
    Variable(
        "LATE_WITHOUT_DRIVER_MINUTES",
        "minutes after the request from which a route without a driver is late",
        default="10",
        check=value_checks.number(0.01, 525_600),
    ),
    Variable(
        "LATE_PICKUP_MINUTES",
        "likewise, a route that was not collected",
        default="30",
        check=value_checks.number(0.01, 525_600),
    ),
    Variable(
        "LATE_MINUTES_PER_KM",
        "a collected route is late after `LATE_PICKUP_MINUTES` and so many minutes for each kilometre of the route",
        default="4",
        check=value_checks.number(0, 525_600),
    ),
    Variable(
        "POSITION_FRESH_SECONDS",
        "age in seconds up to which a position decides whether a driver is too far away for a route",
        default="120",
        check=value_checks.number(1, 86_400, whole=True),
    ),
    Variable(
        "DRIVER_SESSION_DAYS",
        "days for which a driver's phone stays logged in, unless a dispatcher ends it",
        default="30",
        check=value_checks.number(0.01, 3650),
    ),
    Variable(
        "DRIVER_MAX_SPEED_KMH",
        "a position that the driver could only have reached faster is dropped and counted",
        default="200",
        check=value_checks.number(1, 1000),
    ),
    Variable(
        "VAPID_PRIVATE_KEY",
        "the key with which drivers are told of new offers by Web Push while the page is closed: `private_key` of"
        " `manage.py vapid_key`. A new key ends all subscriptions",
        without="none: no Web Push",
        check=value_checks.vapid_key,
        may_be_empty=True,
    ),
    Variable(
        "VAPID_SUBJECT",
        "whom push services may ask about these messages: `mailto:rota@example.com` or an https address; required"
        " with `VAPID_PRIVATE_KEY`",
        check=value_checks.vapid_subject,
        may_be_empty=True,
    ),
    Variable(
        "DRIVER_SHARE_PERCENT",
        "the drivers' share of a delivery's price, in percent, which they see with offers and in their day; 0: no"
        " amounts are shown",
        default="0",
        check=value_checks.number(0, 100),
    ),
    Variable(
        "FORGET_DELIVERY_DAYS",
        "people in deliveries are anonymised so many days after the end, see [personal-data.md](personal-data.md); 0: "
        "never",
        default="180",
        check=value_checks.number(0, 36_500, whole=True),
    ),
    Variable(
        "FORGET_ORDER_DAYS",
        "receivers of orders are anonymised so many days after the creation; 0: never",
        default="1825",
        check=value_checks.number(0, 36_500, whole=True),
    ),
    Variable(
        "FORGET_INVOICE_YEARS",
        "files of invoices are deleted after so many full years beside the one in which they arrived; 0: never",
        default="5",
        check=value_checks.number(0, 100, whole=True),
    ),
    Variable(
        "FORGET_POSITION_DAYS",
        "positions of drivers are deleted after so many days; 0: never",
        default="30",
        check=value_checks.number(0, 36_500, whole=True),
    ),
    Variable(
        "PROOF_PHOTO_DAYS",
        "photos of deliveries are deleted after so many whole days",
        default="90",
        check=value_checks.number(1, 3650, whole=True),
    ),
    Variable("PROOF_FOLDER", "folder of the photos; see *Photos*", without="`proofs` in `DATA_DIR`"),
    Variable("PROOF_S3_BUCKET", "bucket of the photos, instead of a folder"),
    Variable(
        "PROOF_S3_URL",
        "address of a server with the API of S3, such as `https://minio.example.com`",
        without="AWS",
        check=value_checks.url("https", "http"),
        may_be_empty=True,
    ),
    Variable(
        "RATE_LIMIT_PER_SECOND",
        "calls of each token and key in a second; 0: no limit. The admin can set another value for one account",
        default="50",
        check=value_checks.number(0, 1_000_000_000, whole=True),
    ),
    Variable(
        "RATE_LIMIT_PER_HOUR",
        "likewise, in an hour",
        default="20000",
        check=value_checks.number(0, 1_000_000_000, whole=True),
    ),
    Variable(
        "INVOICE_QUOTA_MB",
        "space for the invoices of each seller, in units of 1,048,576 bytes as sent; 0: no limit. The admin can "
        "set another value for one seller",
        default="2048",
        check=value_checks.number(0, 1_000_000_000, whole=True),
    ),
    Variable(
        "INVOICES_PER_DAY",
        "new invoices of each seller in 24 hours; 0: no limit. The admin can set another value for one seller",
        default="5000",
        check=value_checks.number(0, 1_000_000_000, whole=True),
    ),
    Variable(
        "MAP_FILE",
        "vector tiles that the maps are drawn with; see *Maps*",
        without="`map.pmtiles` in `DATA_DIR`; without the file there is no background",
    ),
    Variable(
        "MAP_TILE_URL",
        "a tile server that is used instead, such as `https://tile.example.com/{z}/{x}/{y}.png`; follow its terms"
        " of use",
        check=value_checks.tile_url,
        may_be_empty=True,
    ),
    Variable("MAP_ATTRIBUTION", "its attribution"),
)

// Tells when the state may have changed: by Server-Sent Events, and every ten seconds where there is no stream. The
// stream stays open while the page is hidden, so that a new offer is heard.

const ADDRESS = "/driver/updates/";
const REPORT = "report"; // delivery/looks.py
// Milliseconds.
const POLL = 10_000;
const REFRESH = 60_000; // with a stream: a message can be lost
const CONFIRMED = 600_000; // and while the answers of reports say that the route is the one that is shown
const CHECK = 5_000;
const SILENCE = 40_000; // the server sends a sign of life every 15 s
const AGAIN = 30_000;

let source = null;
let isReady = false;
let heard = 0;
let opened = 0;
let told = 0;
let confirmed = -REFRESH; // when the version was the same
let act = null; // when the state may have changed
let ticked = Date.now();

function tell(changed) {
  told = Date.now();
  changed();
}

/** The service has the version of the route that is shown. */
export function confirm() {
  confirmed = Date.now();
}

/** The service has another version of the route: ask for it. */
export function renew() {
  if (act) tell(act);
}

function open(changed, report) {
  source?.close();
  isReady = false;
  heard = opened = Date.now();
  const stream = source = new EventSource(ADDRESS);
  const on = (name, act) => stream.addEventListener(name, ({ data }) => {
    if (stream !== source) return;
    heard = Date.now();
    act(data);
  });
  on("ready", () => { isReady = true; tell(changed); });
  on("away", () => { isReady = false; });
  on("beat", () => {});
  on("message", (data) => {
    const ids = data.split(" ");
    if (ids.includes(REPORT)) report();
    if (ids.some((id) => id !== REPORT)) tell(changed);
  });
  on("error", () => { isReady = false; }); // the browser connects again, unless the answer was no stream
}

/** `changed` is called when the state may have changed, `report` when somebody begins to look at where the driver is. */
export function startUpdates(changed, report) {
  act = changed;
  const check = () => {
    const now = Date.now();
    const slept = Math.abs(now - ticked) > 4 * CHECK; // or its clock was set
    ticked = now;
    const isClosed = source.readyState === EventSource.CLOSED;
    if (slept || (isClosed ? now - opened > AGAIN : now - heard > SILENCE)) open(changed, report);
    const isConfirmed = Math.abs(now - confirmed) < REFRESH;
    if (slept || now - told >= (!isReady ? POLL : isConfirmed ? CONFIRMED : REFRESH)) tell(changed);
  };
  open(changed, report);
  setInterval(check, CHECK);
  addEventListener("online", () => { open(changed, report); tell(changed); });
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) open(changed, report); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) tell(changed); });
}

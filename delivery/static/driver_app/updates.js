// Tells when the state may have changed: by Server-Sent Events, and every ten seconds where there is no stream. The
// stream stays open while the page is hidden, so that a new offer is heard.

const ADDRESS = "/driver/updates/";
// Milliseconds.
const POLL = 10_000;
const REFRESH = 60_000; // with a stream: a message can be lost
const CHECK = 5_000;
const SILENCE = 40_000; // the server sends a sign of life every 15 s
const AGAIN = 30_000;

let source = null;
let isReady = false;
let heard = 0;
let opened = 0;
let told = 0;
let ticked = Date.now();

function tell(changed) {
  told = Date.now();
  changed();
}

function open(changed) {
  source?.close();
  isReady = false;
  heard = opened = Date.now();
  const stream = source = new EventSource(ADDRESS);
  const on = (name, act) => stream.addEventListener(name, () => {
    if (stream !== source) return;
    heard = Date.now();
    act();
  });
  on("ready", () => { isReady = true; tell(changed); });
  on("away", () => { isReady = false; });
  on("beat", () => {});
  on("message", () => tell(changed));
  on("error", () => { isReady = false; }); // the browser connects again, unless the answer was no stream
}

export function startUpdates(changed) {
  const check = () => {
    const now = Date.now();
    const slept = Math.abs(now - ticked) > 4 * CHECK; // or its clock was set
    ticked = now;
    const isClosed = source.readyState === EventSource.CLOSED;
    if (slept || (isClosed ? now - opened > AGAIN : now - heard > SILENCE)) open(changed);
    if (slept || now - told >= (isReady ? REFRESH : POLL)) tell(changed);
  };
  open(changed);
  setInterval(check, CHECK);
  addEventListener("online", () => { open(changed); tell(changed); });
  addEventListener("pagehide", () => source.close());
  addEventListener("pageshow", (event) => { if (event.persisted) open(changed); });
  document.addEventListener("visibilitychange", () => { if (!document.hidden) tell(changed); });
}

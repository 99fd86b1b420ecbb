// Where the phone is: watched while the driver is on duty with this phone. Sent every five seconds while somebody looks at
// where the driver is and near the next points, and otherwise in batches, because each request keeps the phone's radio on.
import { Refused, Unreachable } from "../offline/server.js";
import { keep, kept } from "./database.js";
import { load, post } from "./server.js";
import { store, update } from "./store.js";
import { confirm, renew } from "./updates.js";

// Milliseconds and metres.
const SEND = 5_000;
const NEAR = 500;
const APART = 1_000;
const STANDING = 10;
const WHILE_STANDING = 30_000;
const OLDEST = 600_000;
const MOST_AT_ONCE = 100;
const EARTH = 6_371_000;
const MOST_DOUBTED = 2; // with the next position there are three, see delivery/geo/position_filter.py
const MOST_UNUSABLE = 3; // requests in a row
const MOST_FAULTS = 6; // in about five minutes
const OPTIONS = { enableHighAccuracy: true, timeout: 30_000, maximumAge: 0 };

let watch = null;
// Both since the page was opened, because the phone's clock may be put right on the way.
let heard = 0; // when the last position came
let taken = 0; // when the last one came that was taken
let last = null; // that one
let unsent = [];
let isSending = false;
let every = SEND; // as the service has answered last, see delivery/looks.py
// Since the last request: counted by looks, and when it was, because browsers look seldom in hidden pages.
let waited = 0;
let asked = 0;
let faults = 0; // of the service at positions, in a row
let rests = 0; // how often to look without sending, after a fault
let doubted = []; // positions of the last request, sent again beside later ones, which may show that they are right
let unusable = 0; // requests in a row of which the service could use nothing
let isOurs = false; // whether this tab watches
let isAsking = false; // whether it is about to

const radians = (degrees) => (degrees * Math.PI) / 180;

function metres(one, other) {
  const north = radians(one.latitude - other.latitude);
  const east = radians(one.longitude - other.longitude) * Math.cos(radians(one.latitude));
  return EARTH * Math.hypot(north, east);
}

function take({ coords, timestamp }) {
  heard = performance.now();
  if (["denied", "missing"].includes(store.location)) update({ location: "" });
  const { latitude, longitude, accuracy } = coords;
  // `at` is by the clock of the satellites or of the phone. The service finds out by which, see delivery/drivers/phone_data.py.
  const told = new Date(timestamp);
  const at = Number.isNaN(told.getTime()) ? null : told.toISOString(); // a receiver can tell what is no date
  const heardAt = new Date().toISOString();
  const position = { driver: store.state.driver.id, latitude, longitude, accuracy, at, heardAt };
  if (last) {
    const passed = heard - taken;
    const isStanding = metres(last, position) < STANDING;
    if (passed < (isStanding ? WHILE_STANDING : APART)) return;
  }
  last = position;
  taken = heard;
  unsent.push(position);
}

function fail({ code, PERMISSION_DENIED }) {
  // A timeout or a place without reception: the watch goes on, and the next position ends the notice.
  if (code === PERMISSION_DENIED) update({ location: "denied" });
  else if (!last) update({ location: "missing" });
}

function begin() {
  if (!navigator.geolocation) {
    update({ location: "missing" });
    return;
  }
  heard = performance.now();
  watch = navigator.geolocation.watchPosition(take, fail, OPTIONS);
}

const save = async () => { if (isOurs) await keep("positions", unsent); };

function end() {
  navigator.geolocation?.clearWatch(watch);
  if (store.location) update({ location: "" });
  watch = last = null;
  unsent = [];
  doubted = [];
  unusable = 0;
}

/** Watch if the driver is on duty, or holds a route, with this phone, and only then: nobody is followed in their free time. */
export function watchOnDuty() {
  const wanted = Boolean(isOurs && store.state?.driver.reportsHere);
  if (wanted && watch === null) begin();
  if (!wanted && watch !== null) end();
}

/** Whether one of the places where the driver can be needed next is near. */
function isNear() {
  const { route } = store.state;
  if (!route || !last) return false;
  const isAhead = ({ label, type }) => (type === "pickup" ? route.status !== "COLLECTED" : route.ahead.includes(label));
  return route.points.some((point) => isAhead(point) && metres(last, point.coordinates) < NEAR);
}

/** Somebody begins to look at where the driver is. */
export function reportSoon() {
  every = SEND;
}

/** Tell the driver when the service can use nothing of what the phone sends. */
function judge({ kept, dropped, everySeconds }, sent) {
  every = everySeconds ? everySeconds * 1_000 : SEND;
  doubted = !kept && dropped.too_fast ? sent.slice(-MOST_DOUBTED) : [];
  faults = 0;
  unusable = kept ? 0 : unusable + 1;
  if (kept && store.location === "unusable") update({ location: "" });
  if (unusable >= MOST_UNUSABLE) update({ location: "unusable" });
}

/** Compare the version of the route with the one that is shown. Reports that are not received together are answered without. */
function compare({ routeVersion }) {
  if (routeVersion === undefined || !store.state) return;
  const { route } = store.state;
  if (routeVersion !== (route?.version ?? null)) renew();
  else if (route) confirm();
}

async function send() {
  const oldest = Date.now() - OLDEST;
  const { id } = store.state.driver;
  unsent = unsent.filter((position) => position.driver === id && Date.parse(position.heardAt) > oldest);
  const some = unsent.slice(0, MOST_AT_ONCE - MOST_DOUBTED);
  if (!some.length) return;
  let answer = {};
  try {
    const positions = [...doubted, ...some].map(({ driver, ...position }) => position);
    answer = await post("positions/", { sentAt: new Date().toISOString(), positions });
    judge(answer, positions);
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
    every = SEND;
    if (error.isFault) {
      faults += 1;
      rests = 2 ** faults;
    }
    if (error instanceof Unreachable && faults < MOST_FAULTS) {
      await save();
      return;
    }
    if (faults === MOST_FAULTS) {
      faults = 0;
      update({ location: "unusable" });
    }
    if (error.status === 409) await load(); // off duty, or on duty with another phone
  }
  unsent = unsent.filter((position) => !some.includes(position));
  compare(answer);
  // Offers in reach, and how far they are, depend on it.
  if (store.state?.offers.some((offer) => offer.toPickupKm === null || offer.seenAt)) await load();
  await save();
}

async function tick() {
  watchIfSeen({ ifAvailable: true }); // the tab that watched may have been closed
  if (watch === null || isSending) return;
  // While a phone lies still some browsers tell nothing.
  if (performance.now() - heard > WHILE_STANDING) {
    heard = performance.now();
    navigator.geolocation.getCurrentPosition(take, fail, OPTIONS);
  }
  if (rests) {
    rests -= 1;
    return;
  }
  waited += SEND;
  if (waited < every && performance.now() - asked < every && !isNear()) return;
  waited = 0;
  asked = performance.now();
  isSending = true;
  try {
    await send();
  } finally {
    isSending = false;
  }
}

// Of several tabs one watches: the one that was seen last, because browsers tell hidden ones no positions.
async function watchIfSeen(options) {
  if (document.hidden || isOurs || isAsking) return;
  isAsking = true;
  try {
    await navigator.locks.request("driver-positions", options, async (lock) => {
      isAsking = false;
      if (!lock) return;
      isOurs = true;
      watchOnDuty();
      unsent = [...((await kept("positions")) ?? []), ...unsent];
      await new Promise(() => {}); // until this tab is closed, or another one is seen
    });
  } catch (error) {
    if (error.name !== "AbortError") throw error;
    isOurs = isAsking = false;
    watchOnDuty();
  }
}

/** To be called once. */
export function startPositions() {
  setInterval(tick, SEND);
  const takeOver = () => watchIfSeen({ steal: true });
  takeOver();
  document.addEventListener("visibilitychange", () => {
    takeOver();
    if (document.hidden) {
      waited = every; // the page may be ended at any time now
      tick();
    }
  });
}

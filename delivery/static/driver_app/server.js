// Calls of the service. Every answer with a state becomes what the page shows.
import { service } from "../offline/server.js";
import { setClock } from "./clock.js";
import { keep } from "./database.js";
import { store, update } from "./store.js";

const ask = service("/driver/", {
  headers: () => (store.state?.route ? { "Rota-Route": store.state.route.deliveryId } : {}),
  renew: () => load(),
  loggedOut: () => forget(),
});

/** Somebody else may have the phone now: nothing of the route stays on it but what the driver did. */
export async function forget() {
  update({ state: null, since: null, gone: null, finished: null, isLoggedOut: true });
  await Promise.all([keep("state", null), keep("positions", [])]);
}

// Calls are numbered, because the service's clock can be set back: by it a later answer can look like an earlier one.
const numbers = new WeakMap(); // of answers, those of their calls
let calls = 0;
let shown = 0;

async function call(...request) {
  const number = ++calls;
  const answer = await ask(...request);
  if (answer) numbers.set(answer, number);
  return answer;
}

/** Show the state that the service has answered with. It is asked again where that of a later call is shown. */
export async function accept(answer) {
  const number = numbers.get(answer);
  if (number < shown) {
    again = true;
    if (!loading) await load();
    return;
  }
  shown = number;
  const state = { ...answer, outcomes: undefined, gone: undefined, finished: undefined };
  const since = Date.now();
  setClock(state.now, since, state.zone);
  update({ state, since, gone: gone(answer), finished: finished(answer), isLoggedOut: false });
  await keepState();
}

const keepState = () => keep("state", { state: store.state, since: store.since, gone: store.gone, finished: store.finished });

/** The route that was cancelled or taken away: where it began, and why. Null for one that the driver holds again. */
function gone(answer) {
  const route = store.state?.route;
  if (answer.driver.id !== store.state?.driver.id) return null; // somebody else has logged in on the phone
  if (answer.gone && route?.deliveryId === answer.gone.deliveryId) {
    const { contacts, address, coordinates } = route.points[0];
    return { ...answer.gone, shop: contacts.name, address, coordinates };
  }
  return answer.route?.deliveryId === store.gone?.deliveryId ? null : store.gone;
}

/**
 * What the driver has done on the route that has just ended, until it is read or another route begins. An answer to a
 * question from before it was read does not show it again.
 */
function finished(answer) {
  if (answer.driver.id !== store.state?.driver.id || answer.route) return null;
  const hasJustEnded = answer.finished && answer.finished.deliveryId === store.state.route?.deliveryId;
  return hasJustEnded ? answer.finished : store.finished;
}

/** The driver has read what the route that has ended was. */
export async function forgetFinished() {
  update({ finished: null });
  await keepState();
}

/** The driver has read why the route is gone. */
export async function forgetGone() {
  update({ gone: null });
  await keepState();
}

export async function get(path) {
  return call("GET", path);
}

export async function post(path, json) {
  return call("POST", path, { json });
}

/** Throws Unreachable after `deadline` milliseconds, too. */
export async function upload(path, bytes, deadline) {
  return call("POST", path, { bytes, deadline });
}

let loading = null;
let again = false;

/** Ask for the state. Calls during another one are one call after it. Throws as `call` does. */
export function load() {
  if (loading) {
    again = true;
    return loading;
  }
  loading = (async () => {
    try {
      do {
        again = false;
        await accept(await call("GET", "state/"));
      } while (again);
    } finally {
      loading = null;
    }
  })();
  return loading;
}

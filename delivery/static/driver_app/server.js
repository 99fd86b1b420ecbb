// Calls of the service. Nothing waits for ever, and every answer with a state becomes what the page shows.
import { setClock } from "./clock.js";
import { keep } from "./database.js";
import { store, update } from "./store.js";

const DEADLINE = 15_000; // milliseconds
const RETRYABLE = new Set([408, 425, 429]);

/**
 * Without an answer of the service: no signal, a server that restarts, the page of a network's log-in. `isFault`: the
 * service, or what stands before it, has failed at what it was sent (5xx).
 */
export class Unreachable extends Error {
  isFault = false;
}

/** The service's answer is no. `message` says why, in the driver's language. */
export class Refused extends Error {
  constructor(status, { code, detail }) {
    super(detail);
    Object.assign(this, { status, code });
  }
}

async function request(method, path, { json, bytes, deadline = DEADLINE }) {
  const headers = { Accept: "application/json" };
  if (json) headers["Content-Type"] = "application/json";
  if (bytes) headers["Content-Type"] = "image/jpeg";
  if (store.state?.route) headers["Rota-Route"] = store.state.route.deliveryId;
  if (store.state) headers["X-CSRFToken"] = store.state.csrf;
  const signal = AbortSignal.timeout(deadline);
  try {
    const body = json ? JSON.stringify(json) : bytes;
    const response = await fetch(`/driver/${path}`, { method, headers, body, signal, redirect: "error", cache: "no-store" });
    const isJson = (response.headers.get("Content-Type") ?? "").startsWith("application/json");
    return { status: response.status, answer: isJson ? await response.json() : null };
  } catch (error) {
    throw new Unreachable("", { cause: error });
  }
}

/** The answer, a JSON object, or null if it is empty. Throws Unreachable and Refused. */
async function call(method, path, content = {}) {
  let result;
  try {
    result = await request(method, path, content);
    if (result.status === 403 && !result.answer && method !== "GET") {
      await load(); // for a new token: cookies may have been deleted
      result = await request(method, path, content);
    }
    const { status, answer } = result;
    if ((!answer && status !== 204) || status >= 500 || RETRYABLE.has(status)) {
      throw Object.assign(new Unreachable(`${status}`), { isFault: status >= 500 });
    }
  } catch (error) {
    if (error instanceof Unreachable) update({ isReachable: false });
    throw error;
  }
  update({ isReachable: true });
  const { status, answer } = result;
  if (status === 401) await forget();
  if (status >= 400) throw new Refused(status, answer);
  return answer;
}

/** Somebody else may have the phone now: nothing of the route stays on it but what the driver did. */
export async function forget() {
  update({ state: null, since: null, gone: null, finished: null, isLoggedOut: true });
  await Promise.all([keep("state", null), keep("positions", [])]);
}

/** Show the state that the service has answered with, unless a later one is shown. */
export async function accept(answer) {
  if (store.state && Date.parse(answer.now) < Date.parse(store.state.now)) return;
  const state = { ...answer, outcomes: undefined, gone: undefined, finished: undefined };
  const since = Date.now();
  setClock(state.now, since);
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

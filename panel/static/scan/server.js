// Calls of the service.
import { Refused, service } from "../offline/server.js";
import { keep } from "./database.js";
import { store, update } from "./store.js";

const call = service("/panel/scan/", { renew: () => load(), loggedOut: () => forget() });

/** Somebody else may have the device now. What was scanned stays until its person logs in again. */
export async function forget() {
  update({ state: null, move: null, last: null, done: 0, isLoggedOut: true });
  await keep("state", null);
}

async function accept({ csrf, person }) {
  update({ state: { csrf, person }, isLoggedOut: false, isForbidden: false });
  await keep("state", store.state);
}

async function called(method, path, content) {
  try {
    const answer = await call(method, path, content);
    await accept(answer);
    return answer;
  } catch (error) {
    if (error instanceof Refused && error.status === 403) update({ isForbidden: true });
    throw error;
  }
}

/** Ask who is logged in. Throws Unreachable and Refused. */
export const load = () => called("GET", "state/");
export const post = (path, json) => called("POST", path, { json });

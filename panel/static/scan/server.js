// Calls of the service.
import { Refused, service, submit } from "../offline/server.js";
import { keep, kept } from "./database.js";
import { store, update } from "./store.js";

const call = service("/panel/scan/", { renew: () => load(), loggedOut: () => forget(), isLogIn: true });
let person = 0; // how often the page has forgotten its person: an answer that was asked for before that shows nobody

async function drop() {
  person += 1;
  update({ state: null, move: null, last: null, done: 0 });
  await Promise.all([keep("state", null), keep("move", null)]);
}

/** Somebody else may have the device now. What was scanned stays until its person logs in again. */
export async function forget() {
  update({ isLoggedOut: true });
  await drop();
}

/** Forget who worked here if somebody has logged out or in since, on another page. The next answer says who it is. */
export async function dropFormer() {
  const names = document.cookie.split("; ").map((each) => each.split("=")[0]);
  if (names.includes(document.body.dataset.personChanged)) await Promise.all([drop(), keep("leaving", null)]);
}

/** Log out: on the device at once, in the service as soon as it can be told. Throws Unreachable. */
export async function logOut() {
  const { id } = store.state.person;
  await Promise.all([forget(), keep("leaving", id)]);
  await leave();
}

/** Send the log-out that could not be sent, unless it has become void. Throws Unreachable. */
export async function leave() {
  const leaving = (await kept("leaving")) ?? null;
  update({ isLeaving: Boolean(leaving) });
  if (!leaving) return;
  await forget(); // also a page in another tab
  try {
    const { csrf, person: { id } } = await call("GET", "state/");
    if (id === leaving) await submit("/account/logout/", { csrfmiddlewaretoken: csrf });
  } catch (error) {
    if (!(error instanceof Refused)) throw error; // nobody is logged in
  }
  await keep("leaving", null);
  update({ isLeaving: false });
}

async function called(method, path, content) {
  const asked = person;
  try {
    const answer = await call(method, path, content);
    if (asked === person) {
      update({ state: { csrf: answer.csrf, person: answer.person }, isLoggedOut: false, isForbidden: false });
      await keep("state", store.state);
    }
    return answer;
  } catch (error) {
    if (error instanceof Refused && error.status === 403 && asked === person) update({ isForbidden: true });
    throw error;
  }
}

/** Ask who is logged in. Throws Unreachable and Refused. */
export const load = () => called("GET", "state/");
export const post = (path, json) => called("POST", path, { json });

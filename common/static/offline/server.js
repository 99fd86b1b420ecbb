// Calls of the service. Nothing waits for ever.
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

/** The service's answer is no. `message` says why, in the reader's language. */
export class Refused extends Error {
  constructor(status, { code, detail }) {
    super(detail);
    Object.assign(this, { status, code });
  }
}

/** Whether it is about who is logged in, and not about what was sent. */
export const isAboutLogIn = (error) => error instanceof Refused && [401, 403].includes(error.status);

/**
 * A function that calls the paths below `base`: it resolves to the answer, a JSON object, or null if that is empty, and
 * throws Unreachable and Refused. `headers` are sent with each call. `renew` asks for a new state with its token.
 * `loggedOut` is waited for when the session has ended. `isLogIn`: a redirect leads to a step of the log-in, such as the
 * second factor; otherwise it is an answer of somebody else.
 */
export function service(base, { headers = () => ({}), renew, loggedOut, isLogIn = false }) {
  async function request(method, path, { json, bytes, deadline = DEADLINE }) {
    const sent = { Accept: "application/json", ...headers() };
    if (json) sent["Content-Type"] = "application/json";
    if (bytes) sent["Content-Type"] = "image/jpeg";
    if (store.state) sent["X-CSRFToken"] = store.state.csrf;
    const signal = AbortSignal.timeout(deadline);
    try {
      const body = json ? JSON.stringify(json) : bytes;
      const response = await fetch(`${base}${path}`, { method, headers: sent, body, signal, redirect: "manual", cache: "no-store" });
      if (response.type === "opaqueredirect" && isLogIn) return { status: 401, answer: { code: "logged_out", detail: "" } };
      const isJson = (response.headers.get("Content-Type") ?? "").startsWith("application/json");
      return { status: response.status, answer: isJson ? await response.json() : null };
    } catch (error) {
      throw new Unreachable("", { cause: error });
    }
  }

  return async function call(method, path, content = {}) {
    let result;
    try {
      result = await request(method, path, content);
      if (result.status === 403 && !result.answer && method !== "GET") {
        await renew(); // cookies may have been deleted
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
    if (status === 401) await loggedOut();
    if (status >= 400) throw new Refused(status, answer);
    return answer;
  };
}

/**
 * Send a form of the panel's or the app's, as a browser does. `renew` asks for a new state when its token is refused.
 * Throws Unreachable, and what `renew` throws.
 */
export async function submit(path, fields, renew = null) {
  const send = async () => {
    const body = new URLSearchParams({ csrfmiddlewaretoken: store.state?.csrf ?? "", ...fields });
    try {
      return await fetch(path, { method: "POST", body, signal: AbortSignal.timeout(DEADLINE) });
    } catch (error) {
      throw new Unreachable("", { cause: error });
    }
  };
  let answer = await send();
  if (answer.status === 403 && renew) {
    await renew();
    answer = await send();
  }
  if (!answer.ok) throw new Unreachable(`${answer.status}`);
}

// Web Push: notifications of new offers while the page is closed. The service worker shows them, see `worker.js`.
import { text } from "../offline/dom.js";
import { Refused, Unreachable } from "../offline/server.js";
import { keep, kept } from "./database.js";
import { get, post } from "./server.js";
import { store, update } from "./store.js";

let key = null; // the service's public key, in base64url
let isStarted = false;

const base64url = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)))
  .replaceAll("+", "-").replaceAll("/", "_").replace(/[=]+$/u, "");

async function subscription() {
  const { pushManager } = await navigator.serviceWorker.ready;
  const found = await pushManager.getSubscription();
  if (found && base64url(found.options.applicationServerKey) === key) return found;
  await found?.unsubscribe(); // it is for an earlier key of the service
  return pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: key });
}

async function subscribe() {
  await post("push/", (await subscription()).toJSON());
  update({ push: "on" });
}

// The browser's own service, which it has to reach for a new subscription, answers with a DOMException.
const isExpected = (error) => [Unreachable, Refused, DOMException].some((kind) => error instanceof kind);

navigator.serviceWorker?.addEventListener("message", ({ data }) => update(data));
document.addEventListener("visibilitychange", () => { if (!document.hidden) closeNotifications(); });

/** Subscribe if the driver has allowed notifications, or find out whether to ask. To be called when the service has answered;
 * after a call that it has answered too, later ones do nothing. */
export async function startPush() {
  if (isStarted || !navigator.serviceWorker || !window.PushManager || !window.Notification) return;
  isStarted = true;
  closeNotifications();
  try {
    key = (await get("push/")).publicKey;
    if (!key) return;
    if (Notification.permission === "granted") await subscribe();
    else update({ push: Notification.permission === "denied" ? "denied" : (await kept("pushAnswer")) ?? "ask" });
  } catch (error) {
    if (!isExpected(error)) throw error;
    if (key) update({ push: "later" }); // the menu offers it
    else isStarted = false;
  }
}

/** What "Allow notifications" does: the browser asks the driver. */
export async function allowPush() {
  try {
    const permission = await Notification.requestPermission();
    if (permission === "granted") await subscribe();
    else update({ push: permission === "denied" ? "denied" : "later" });
  } catch (error) {
    if (!isExpected(error)) throw error;
    update({ push: "later", problem: text("error.push") });
  }
}

/** What "Not now" does: the page does not ask again; the menu still offers it. */
export async function refusePush() {
  update({ push: "later" });
  await keep("pushAnswer", "later");
}

/** The page shows the offers itself. */
async function closeNotifications() {
  const registration = await navigator.serviceWorker?.getRegistration();
  for (const notification of (await registration?.getNotifications()) ?? []) notification.close();
}

/** At the log-out: whoever has the phone next is told nothing. */
export async function stopPush() {
  if (store.push !== "on") return;
  const { pushManager } = await navigator.serviceWorker.ready;
  await (await pushManager.getSubscription())?.unsubscribe();
  update({ push: "" });
}

// The page as the device keeps it, see `worker.js`.
import { text } from "./dom.js";
import { Refused, Unreachable, submit } from "./server.js";
import { isSheetOpen } from "./sheets.js";
import { update } from "./store.js";

/** Begin with what the device has kept, which `show` reads. */
export async function restore(show) {
  try {
    await show();
    navigator.storage?.persist?.();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    update({ problem: text("error.kept") });
  }
  update({});
}

/** Ask the service by `ask`. The page shows whether it answered, and who is logged in. */
export async function look(ask) {
  try {
    await ask();
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof Refused)) throw error;
  }
}

/** Keep the page, whose service worker is `sw.js` below its address. */
export function keepPage(address) {
  if (!navigator.serviceWorker) return;
  let isOld = false;
  const hadOne = Boolean(navigator.serviceWorker.controller);
  navigator.serviceWorker.register(`${address}sw.js`, { scope: address });
  // A new version is there: it is shown when somebody comes back to the page, and loses nothing.
  navigator.serviceWorker.addEventListener("controllerchange", () => { isOld = hadOne; });
  document.addEventListener("visibilitychange", () => {
    if (isOld && document.hidden && !isSheetOpen()) location.reload();
  });
}

/** Show the page in another language. `renew` as `submit` has it. Throws Unreachable and Refused. */
export async function speak(language, address, renew) {
  await submit("/language/", { language, next: address }, renew);
  // The kept page is in the other language.
  for (const name of await caches.keys()) await (await caches.open(name)).delete(address);
  location.reload();
}

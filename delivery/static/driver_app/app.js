// Starts the app: first what the phone has kept, then what the service says.
import { announceOffers, keepScreenOn } from "./alerts.js";
import { setClock } from "./clock.js";
import { kept } from "./database.js";
import { text } from "./dom.js";
import { startPositions, watchOnDuty } from "./positions.js";
import { tidy } from "./proofs.js";
import { startPush } from "./push.js";
import { send } from "./queue.js";
import { draw } from "./screens.js";
import { Refused, Unreachable, load } from "./server.js";
import { isSheetOpen } from "./sheets.js";
import { onUpdate, store, update } from "./store.js";
import { startUpdates } from "./updates.js";

async function look() {
  try {
    await load();
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof Refused)) throw error; // the page says which
  }
  if (store.state) await send();
  if (store.state && store.isReachable) await startPush();
}

// A new version of the app is there: it is shown when the driver comes back to the page, and loses nothing.
function registerWorker() {
  if (!navigator.serviceWorker) return;
  let isOld = false;
  const hadOne = Boolean(navigator.serviceWorker.controller);
  navigator.serviceWorker.register("/driver/sw.js", { scope: "/driver/" });
  navigator.serviceWorker.addEventListener("controllerchange", () => { isOld = hadOne; });
  document.addEventListener("visibilitychange", () => {
    if (isOld && document.hidden && !isSheetOpen()) location.reload();
  });
}

async function start() {
  onUpdate(() => {
    draw();
    announceOffers();
    watchOnDuty();
    keepScreenOn();
  });
  registerWorker();
  try {
    const last = await kept("state");
    if (last) {
      setClock(last.state.now, last.since);
      update(last);
    }
    navigator.storage?.persist?.();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    update({ problem: text("error.kept") });
  }
  update({});
  startUpdates(look);
  startPositions();
  await look();
  if (store.state && store.isReachable) await tidy();
}

start();

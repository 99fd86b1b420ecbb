// Starts the app: first what the phone has kept, then what the service says.
import { text } from "../offline/dom.js";
import { keepPage } from "../offline/kept_page.js";
import { Refused, Unreachable } from "../offline/server.js";
import { announceOffers, keepScreenOnDuringRoute } from "./alerts.js";
import { setClock } from "./clock.js";
import { kept } from "./database.js";
import { startPositions, watchOnDuty } from "./positions.js";
import { tidy } from "./proofs.js";
import { startPush } from "./push.js";
import { send } from "./queue.js";
import { draw } from "./screens.js";
import { load } from "./server.js";
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

async function start() {
  onUpdate(() => {
    draw();
    announceOffers();
    watchOnDuty();
    keepScreenOnDuringRoute();
  });
  keepPage("/driver/");
  try {
    const last = await kept("state");
    if (last) {
      setClock(last.state.now, last.since, last.state.zone);
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

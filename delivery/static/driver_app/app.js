// Starts the app: first what the phone has kept, then what the service says.
import { keepPage, look, restore } from "../offline/kept_page.js";
import { announceOffers, keepScreenOnDuringRoute } from "./alerts.js";
import { setClock } from "./clock.js";
import { kept } from "./database.js";
import { reportSoon, startPositions, watchOnDuty } from "./positions.js";
import { tidy } from "./proofs.js";
import { startPush } from "./push.js";
import { send } from "./queue.js";
import { draw } from "./screens.js";
import { load } from "./server.js";
import { onUpdate, store, update } from "./store.js";
import { startUpdates } from "./updates.js";

async function lookAndSend() {
  await look(load);
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
  await restore(async () => {
    const last = await kept("state");
    if (!last) return;
    setClock(last.state.now, last.since, last.state.zone);
    update(last);
  });
  startUpdates(lookAndSend, reportSoon);
  startPositions();
  await lookAndSend();
  if (store.state && store.isReachable) await tidy();
}

start();

// Starts the page: first what the device has kept, then what the service says.
import { keepScreenOn } from "../offline/device.js";
import { keepPage, look, restore } from "../offline/kept_page.js";
import * as actions from "./actions.js";
import { kept } from "./database.js";
import { startField } from "./field.js";
import { refresh, send, showLast } from "./scans.js";
import { drawWhenFree } from "./screens.js";
import { dropFormer, leave, load } from "./server.js";
import { onUpdate, store, update } from "./store.js";

const AGAIN = 15_000; // milliseconds

async function lookAndSend() {
  await look(async () => {
    await dropFormer();
    await leave();
    await load();
  });
  await refresh();
  if (store.state) await send();
}

async function start() {
  onUpdate(() => {
    drawWhenFree();
    keepScreenOn(Boolean(store.state && store.move));
  });
  keepPage("/panel/scan/");
  for (const button of document.querySelectorAll("[data-press]")) {
    button.addEventListener("click", (event) => actions[button.dataset.press](event));
  }
  startField(actions.take);
  await restore(async () => {
    await dropFormer();
    update({ state: (await kept("state")) ?? null, move: (await kept("move")) ?? null, hasSound: (await kept("sound")) ?? true });
    await refresh();
    showLast();
  });
  addEventListener("online", lookAndSend);
  document.addEventListener("visibilitychange", () => { (document.hidden ? send : lookAndSend)(); });
  setInterval(() => { if ((!store.isReachable || store.isLeaving) && !document.hidden) lookAndSend(); }, AGAIN);
  await lookAndSend();
}

start();

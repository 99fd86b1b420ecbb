// Starts the page: first what the device has kept, then what the service says.
import { keepScreenOn } from "../offline/device.js";
import { text } from "../offline/dom.js";
import { keepPage } from "../offline/kept_page.js";
import { Refused, Unreachable } from "../offline/server.js";
import * as actions from "./actions.js";
import { kept } from "./database.js";
import { startField } from "./field.js";
import { refresh, send, showLast } from "./scans.js";
import { drawWhenFree } from "./screens.js";
import { dropFormer, leave, load } from "./server.js";
import { onUpdate, store, update } from "./store.js";

const AGAIN = 15_000; // milliseconds

async function look() {
  try {
    await dropFormer();
    await leave();
    await load();
  } catch (error) {
    if (!(error instanceof Unreachable || error instanceof Refused)) throw error; // the page says which
  }
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
  try {
    await dropFormer();
    update({ state: (await kept("state")) ?? null, move: (await kept("move")) ?? null, hasSound: (await kept("sound")) ?? true });
    await refresh();
    showLast();
    navigator.storage?.persist?.();
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    update({ problem: text("error.kept") });
  }
  update({});
  addEventListener("online", look);
  document.addEventListener("visibilitychange", () => { (document.hidden ? send : look)(); });
  setInterval(() => { if ((!store.isReachable || store.isLeaving) && !document.hidden) look(); }, AGAIN);
  await look();
}

start();

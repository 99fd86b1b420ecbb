// What the buttons do.
import { text } from "../offline/dom.js";
import { speak } from "../offline/kept_page.js";
import { Refused, Unreachable, submit } from "../offline/server.js";
import { openSheet } from "../offline/sheets.js";
import { allowPush, stopPush } from "./push.js";
import * as queue from "./queue.js";
import { accept as show, forget, forgetFinished, forgetGone, load, post } from "./server.js";
import { openFailure, openNavigation, openProof, openStep } from "./sheets.js";
import { store, update } from "./store.js";

let underWay = ""; // the press whose call is under way
const pressed = new Map(); // the calls after it, by their presses
let installPrompt = null;

addEventListener("beforeinstallprompt", (event) => {
  event.preventDefault();
  installPrompt = event;
});

async function attempt(call) {
  update({ problem: "" });
  document.body.setAttribute("aria-busy", "true");
  try {
    await call();
  } catch (error) {
    if (error instanceof Unreachable) update({ problem: text("error.unreachable") });
    else if (error instanceof Refused) update({ problem: store.isLoggedOut ? "" : error.message });
    else throw error;
  } finally {
    document.body.removeAttribute("aria-busy");
  }
}

// One call at a time: what is pressed meanwhile is done after it, but the same press does nothing until it is done.
async function inTurn(press, call) {
  if (press === underWay) return;
  pressed.set(press, call);
  if (underWay) return;
  try {
    for (const [each, act] of pressed) {
      pressed.delete(each);
      underWay = each;
      await attempt(act);
    }
  } finally {
    underWay = "";
  }
}

export const onDuty = () => inTurn("onDuty", async () => show(await post("duty/", { onDuty: true })));
export const offDuty = () => inTurn("offDuty", async () => show(await post("duty/", { onDuty: false })));

const answerOffer = (offer, answer) => inTurn(`${answer} ${offer.deliveryId}`, async () => {
  try {
    await show(await post(`offers/${offer.deliveryId}/${answer}/`, {}));
  } catch (error) {
    if (error instanceof Refused && error.status !== 401) await load(); // without the offer that is gone
    throw error;
  }
});

export const accept = (offer) => answerOffer(offer, "accept");
export const decline = (offer) => answerOffer(offer, "decline");

export const navigate = openNavigation;
export const dismiss = queue.dismiss;
export const dismissGone = forgetGone;
export const dismissFinished = forgetFinished;

/** The actions of a route's screen. */
export const ofRoute = (route, next) => ({
  collect: () => openStep(route, next),
  return: () => openStep(route, next),
  deliver: () => openProof(route, next.point),
  fail: () => openFailure(route, next.point),
});

const isIPhone = () => /iPhone|iPad/u.test(navigator.userAgent) && !navigator.standalone;

export function menu() {
  const values = {
    installs: installPrompt,
    installsByHand: isIPhone(),
    notifies: ["ask", "later"].includes(store.push),
    waiting: queue.waiting().length,
  };
  openSheet("menu", values, {
    install: (close) => {
      installPrompt.prompt();
      installPrompt = null;
      close();
    },
    notify: (close) => {
      close();
      allowPush();
    },
    language: (close, event) => {
      const language = event.currentTarget.value;
      close();
      inTurn("language", () => speak(language, "/driver/", load));
    },
    logOut: (close) => {
      close();
      inTurn("logOut", async () => {
        await submit("/driver/out/", {}, load);
        await stopPush();
        await forget();
      });
    },
  });
}

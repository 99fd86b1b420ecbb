// Times by the clock of the service: the phone's may be wrong.
import { text } from "../offline/dom.js";

const MINUTE = 60_000;
const language = document.documentElement.lang;
const time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit" });
let ahead = 0; // milliseconds by which the service's clock is ahead of the phone's

/** `now` by the service's clock was at `since` by the phone's. */
export function setClock(now, since) {
  ahead = Date.parse(now) - since;
}

/** A moment of the phone's clock as people read it, such as 14:05. */
export function clockTime(moment) {
  return time.format(new Date(moment));
}

function left(moment) {
  const rest = Date.parse(moment) - Date.now() - ahead;
  if (rest <= 0) return text("time.over");
  if (rest < MINUTE) return text("time.seconds", Math.ceil(rest / 1000));
  return text("time.minutes", Math.ceil(rest / MINUTE));
}

/** Write the time that is left into elements with `data-moment`. */
export function countDown() {
  for (const element of document.querySelectorAll("[data-moment]")) {
    const now = left(element.dataset.moment);
    if (element.textContent !== now) element.textContent = now;
  }
}

setInterval(countDown, 1000);

// Times by the clock of the service, because the phone's may be wrong, and in the zone of the place.
import { text } from "../offline/dom.js";

const MINUTE = 60_000;
const language = document.documentElement.lang;
let ahead = 0; // milliseconds by which the service's clock is ahead of the phone's
let day, time, dayAndTime;

/** `now` by the service's clock was at `since` by the phone's. `zone`: of what the driver has; without it that of the phone. */
export function setClock(now, since, zone) {
  ahead = Date.parse(now) - since;
  setZone(zone);
}

function setZone(timeZone) {
  day = new Intl.DateTimeFormat(language, { dateStyle: "short", timeZone });
  time = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", timeZone });
  dayAndTime = new Intl.DateTimeFormat(language, { dateStyle: "short", timeStyle: "short", timeZone });
}

setZone(undefined);

/** A moment in ISO 8601 or in milliseconds, such as 14:05. */
export const clockTime = (value) => time.format(new Date(value));

/** The same, such as 22/11/2026, 14:05. Empty for null. */
export const moment = (value) => (value === null ? "" : dayAndTime.format(new Date(value)));

/** The time, with its day if that is not today. */
export const soon = (value) => (day.format(new Date(value)) === day.format(new Date()) ? clockTime(value) : moment(value));

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

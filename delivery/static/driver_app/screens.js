// Draws the page from the store: bar, notices, one screen, and the actions at the bottom.
import { part, show, text, whenFree } from "../offline/dom.js";
import { closeSheets } from "../offline/sheets.js";
import * as actions from "./actions.js";
import { clockTime, countDown, moment, soon } from "./clock.js";
import { area, km, money, parcels, place, street } from "./format.js";
import { sketch } from "./map.js";
import { nextMove, predicted } from "./predicted.js";
import { allowPush, refusePush } from "./push.js";
import { ofOthers, refused, sendAgain, waiting } from "./queue.js";
import { store, update } from "./store.js";

const moveName = ({ trigger, point }) => [text(trigger === "collect" && point ? "move.collectAt" : `move.${trigger}`), point].filter(Boolean).join(" ");

function browser() {
  const agent = navigator.userAgent;
  const names = { iphone: /iPhone|iPad/u, samsung: /SamsungBrowser/u, firefox: /Firefox/u };
  const found = Object.keys(names).find((name) => names[name].test(agent)) ?? "chrome";
  return { [found]: true };
}

function notices() {
  const { state, since, gone, isReachable, isLoggedOut, location, problem, push } = store;
  const found = [];
  const unsent = waiting();
  if (problem) found.push(part("problem", { detail: problem }, { dismiss: () => update({ problem: "" }) }));
  if (gone) {
    const values = { [gone.why]: true, shop: gone.shop, address: place(gone) };
    found.push(part("gone", values, { dismiss: actions.dismissGone }));
  }
  for (const goods of state?.goods ?? []) {
    found.push(part("goods-in-hand", { reverse: goods.mode === "REVERSE", shop: goods.shop, address: place(goods), orders: goods.orders }));
  }
  for (const move of refused()) {
    const values = { move: moveName(move), at: clockTime(move.madeAt), detail: move.refused.detail };
    found.push(part("refused", values, { dismiss: () => actions.dismiss(move) }));
  }
  const moves = unsent.map(moveName).join(", ");
  const isAway = !isReachable && state;
  if (isAway) found.push(part("unreachable", { since: clockTime(since), moves: !store.isStuck && moves }));
  if (moves && (!isAway || store.isStuck)) found.push(part("unsent", { moves, stuck: store.isStuck }, { again: sendAgain }));
  if (ofOthers().length) found.push(part("unsent-others"));
  if ((state?.driver.onDuty || state?.route) && !state.driver.reportsHere) found.push(part("other-phone", {}, { send: actions.onDuty }));
  if (location && !isLoggedOut) found.push(part(`location-${location}`, browser()));
  if (push === "ask" && state?.driver.onDuty) found.push(part("push-ask", {}, { allow: allowPush, later: refusePush }));
  return found;
}

// From when the driver can be there, where the shop has asked for it, and until when the driver has to be. `dueAt` is unknown to a
// server of the version before.
function windowOf({ readyAt, deadlineAt, dueAt }) {
  const until = dueAt ?? deadlineAt;
  return [readyAt && text("window.from", soon(readyAt)), until && text("window.until", soon(until))].filter(Boolean).join(", ");
}

const placePart = (point) => part("place", { label: point.label, address: place(point), window: windowOf(point) });

function offerPart(offer) {
  const values = {
    ...offer,
    share: money(offer.share),
    toPickup: km(offer.toPickupKm),
    seenAt: moment(offer.seenAt),
    distance: km(offer.distanceKm),
    parcels: parcels(offer.parcels),
    reverse: offer.mode === "REVERSE",
    map: sketch(offer.points),
    points: offer.points.map(placePart),
  };
  const element = part("offer", values, { accept: () => actions.accept(offer), decline: () => actions.decline(offer) });
  const heading = element.querySelector("h2");
  heading.id = `offer-${offer.deliveryId}`;
  element.setAttribute("aria-labelledby", heading.id);
  for (const button of element.querySelectorAll("button")) button.setAttribute("aria-describedby", heading.id);
  return element;
}

const offerCount = (count) => (count === 1 ? text("offers.one") : text("offers.many", count));

const latePart = ({ point, dueAt, at }) => part("late", { label: point, due: soon(dueAt), at: soon(at) });

function finishedPart({ share, distanceKm, mode, delivered, failed, minutes, onTime, late = [] }) {
  const isPickup = mode === "REVERSE";
  const values = { share: money(share), distance: km(distanceKm), isPickup, delivered, failed, isLate: !onTime, onTime };
  Object.assign(values, { late: late.length && late.map(latePart), byShop: late.some(({ point }) => point) });
  values.minutes = minutes === null ? "" : text("time.minutes", minutes);
  return part("summary", values);
}

function nowPart(route, { trigger, point }) {
  const values = {
    label: point.label,
    [whatToDo(route, { trigger, point })]: true,
    window: windowOf(point),
    wasTried: point.wasTried,
    changedAt: point.changedAt && text("stop.changed", clockTime(point.changedAt)),
    mayLeave: trigger === "deliver" && point.onFailure === "LEAVE",
    street: street(point),
    complement: point.address.complement,
    area: area(point),
    instructions: point.instructions,
    receiver: point.receiver,
    needsPhoto: point.needsPhoto,
    needsPin: point.needsPin,
    asked: trigger === "deliver" && (point.needsPhoto || point.needsPin),
    order: point.externalId,
    person: point.contacts.name,
    phone: point.phone.shown,
    call: point.phone.call,
    chat: point.phone.chat,
  };
  return part("now", values, { navigate: () => actions.navigate(point) });
}

// Which texts and buttons the next move has: those at A and at a stop differ, and so does mode REVERSE.
function whatToDo(route, { trigger, point }) {
  if (trigger === "collect" && point.label !== "A") return "collectHere";
  return trigger === "return" && route.mode === "REVERSE" ? "bring" : trigger;
}

function statusOf(route, { label, status, wasTried }) {
  if (!status) return "";
  if (wasTried && route.ahead.includes(label)) return text("stop.again");
  return text(`${route.mode === "REVERSE" ? "pickup" : "stop"}.${status}`);
}

function pointPart(route, point, next) {
  const isCollected = point.label === "A" && route.mode !== "REVERSE" && route.status !== "ACCEPTED" && next?.point !== point;
  const status = isCollected ? text("move.collect") : statusOf(route, point);
  const element = part("point", { label: point.label, address: place(point), status, window: windowOf(point), waiting: point.isWaiting });
  if (next?.point === point) element.setAttribute("aria-current", "step");
  return element;
}

function routeScreen(route) {
  const next = nextMove(route);
  const isReverse = route.mode === "REVERSE";
  const [a, ...stops] = route.points;
  return part("route", {
    share: money(route.share),
    distance: km(route.distanceKm),
    cancelled: route.cancelled && !isReverse,
    stopped: route.cancelled && isReverse,
    now: next && nowPart(route, next),
    points: (isReverse ? [...stops, a] : route.points).map((point) => pointPart(route, point, next)),
  });
}

/** The screen and the actions below it, as functions that make them. */
function screen(route) {
  const { state, isLoggedOut, isReachable, moves, finished, push } = store;
  if (isLoggedOut) return [() => part("logged-out", { waiting: moves.some((move) => !move.refused) })];
  if (!state) return [() => part("starting", { unreachable: !isReachable })];
  if (route?.status === "FINISHED") return [() => part("finished")];
  if (route) {
    const next = nextMove(route);
    return [() => routeScreen(route), () => part("route-actions", { [whatToDo(route, next)]: true }, actions.ofRoute(route, next))];
  }
  if (finished) return [() => finishedPart(finished), () => part("summary-actions", {}, actions)];
  if (!state.driver.onDuty) return [() => part("off-duty"), () => part("duty-actions", {}, actions)];
  if (!state.offers.length) return [() => part("waiting", { [`push-${push}`]: true }, actions)];
  const values = { count: offerCount(state.offers.length), offers: state.offers.map(offerPart) };
  return [() => part("offers", values, actions)];
}

/** The name of a screen: when another one comes, the page begins at its top. */
function nameOf(route, { state, finished, isLoggedOut }) {
  if (isLoggedOut || !state) return "";
  if (route) {
    const next = nextMove(route);
    return [route.deliveryId, next?.trigger, next?.point.label].join(" ");
  }
  if (finished) return "finished";
  return state.driver.onDuty ? "offers" : "off duty";
}

let shownScreen = "";
let shownProblem = "";

// What a press could not do is said there, too.
function startAtTop(name, problem) {
  if (name !== shownScreen || (problem && problem !== shownProblem)) document.getElementById("content").scrollTop = 0;
  shownScreen = name;
  shownProblem = problem;
}

// Where somebody who has pressed a notification looks for its offer.
function showNotified() {
  const heading = store.notified && document.getElementById(`offer-${store.notified}`);
  if (!heading) return;
  heading.tabIndex = -1;
  heading.focus();
  heading.closest("article").scrollIntoView();
  update({ notified: "" });
}

// The route that was cancelled or taken away, when the page was drawn last.
let ended = null;

function closeEnded({ state, gone }) {
  const now = gone?.deliveryId ?? (state?.route?.cancelled ? state.route.deliveryId : null);
  if (now && now !== ended) closeSheets();
  ended = now;
}

/** Draw what has changed. */
export function draw() {
  whenFree(() => {
    const { state, gone, finished, isLoggedOut, isReachable, isStuck, moves, location, problem, push } = store;
    closeEnded(store);
    const route = predicted(state?.route ?? null, waiting());
    const [content, below] = screen(route);
    const driver = state?.driver;
    const since = isReachable ? 0 : store.since;
    show("bar", JSON.stringify([driver]), () => [driver ? part("bar", driver, actions) : part("brand")]);
    const shown = [moves, isStuck, driver, Boolean(route), state?.goods, gone, isLoggedOut, isReachable, since, location, problem, push];
    show("notices", JSON.stringify(shown), notices);
    const key = JSON.stringify([isLoggedOut, !state && isReachable, driver, state?.offers, route, finished, moves.length, push]);
    show("screen", key, () => [content()]);
    show("actions", key, () => (below ? [below()] : []));
    startAtTop(nameOf(route, store), problem);
    showNotified();
    countDown();
  });
}

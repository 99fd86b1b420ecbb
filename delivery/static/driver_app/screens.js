// Draws the page from the store: bar, notices, one screen, and the actions at the bottom.
import * as actions from "./actions.js";
import { clockTime, countDown } from "./clock.js";
import { part, show, text, whenFree } from "./dom.js";
import { area, km, moment, money, phone, place, street } from "./format.js";
import { nextMove, predicted } from "./predicted.js";
import { allowPush, refusePush } from "./push.js";
import { ofOthers, refused, sendAgain, waiting } from "./queue.js";
import { closeSheets } from "./sheets.js";
import { store, update } from "./store.js";

const moveName = ({ trigger, point }) => [text(`move.${trigger}`), point].filter(Boolean).join(" ");

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
  for (const move of refused()) {
    const values = { move: moveName(move), at: clockTime(move.madeAt), detail: move.refused.detail };
    found.push(part("refused", values, { dismiss: () => actions.dismiss(move) }));
  }
  if (!isReachable && state) found.push(part("unreachable", { since: clockTime(since) }));
  if (unsent.length) found.push(part("unsent", { moves: unsent.map(moveName).join(", "), stuck: store.isStuck }, { again: sendAgain }));
  if (ofOthers().length) found.push(part("unsent-others"));
  if ((state?.driver.onDuty || state?.route) && !state.driver.reportsHere) found.push(part("other-phone", {}, { report: actions.onDuty }));
  if (location && !isLoggedOut) found.push(part(`location-${location}`, browser()));
  if (push === "ask" && state?.driver.onDuty) found.push(part("push-ask", {}, { allow: allowPush, later: refusePush }));
  return found;
}

const placePart = (point) => part("place", { label: point.label, address: place(point) });

function offerPart(offer) {
  const values = {
    ...offer,
    share: money(offer.share),
    toPickup: km(offer.toPickupKm),
    seenAt: moment(offer.seenAt),
    distance: km(offer.distanceKm),
    points: offer.points.map(placePart),
  };
  const element = part("offer", values, { choose: () => update({ chosen: offer.deliveryId }) });
  element.setAttribute("aria-pressed", String(store.chosen === offer.deliveryId));
  return element;
}

function nowPart({ trigger, point }) {
  const number = phone(point.contacts.phoneNumber);
  const values = {
    label: point.label,
    [trigger]: true,
    street: street(point),
    complement: point.address.complement,
    area: area(point),
    instructions: point.instructions,
    needsPhoto: point.needsPhoto,
    needsPin: point.needsPin,
    asked: trigger === "deliver" && (point.needsPhoto || point.needsPin),
    order: point.externalId,
    person: point.contacts.name,
    phone: number.shown,
    call: number.call,
    whatsApp: number.whatsApp,
  };
  return part("now", values, { navigate: () => actions.navigate(point) });
}

function pointPart(point, next) {
  const status = point.status ? text(`status.${point.status}`) : "";
  const element = part("point", { label: point.label, address: place(point), status, waiting: point.isWaiting });
  if (next?.point === point) element.setAttribute("aria-current", "step");
  return element;
}

function routeScreen(route) {
  const next = nextMove(route);
  return part("route", {
    share: money(route.share),
    distance: km(route.distanceKm),
    cancelled: route.cancelled,
    now: next && nowPart(next),
    points: route.points.map((point) => pointPart(point, next)),
  });
}

/** The screen and the actions below it, as functions that make them. */
function screen(route) {
  const { state, isLoggedOut, isReachable, moves, chosen, push } = store;
  if (isLoggedOut) return [() => part("logged-out", { waiting: moves.some((move) => !move.refused) })];
  if (!state) return [() => part("starting", { unreachable: !isReachable })];
  if (route?.status === "FINISHED") return [() => part("finished")];
  if (route) {
    const next = nextMove(route);
    return [() => routeScreen(route), () => part("route-actions", { [next.trigger]: true }, actions.ofRoute(route, next))];
  }
  if (!state.driver.onDuty) return [() => part("off-duty"), () => part("duty-actions", {}, actions)];
  if (!state.offers.length) return [() => part("waiting", { [`push-${push}`]: true }, actions)];
  const offer = state.offers.find((each) => each.deliveryId === chosen);
  const values = { chosen: offer, share: money(offer?.share ?? null) };
  return [
    () => part("offers", { count: state.offers.length, offers: state.offers.map(offerPart) }, actions),
    () => part("offer-actions", values, { accept: () => actions.accept(offer) }),
  ];
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
    const { state, gone, isLoggedOut, isReachable, isStuck, moves, chosen, location, problem, push } = store;
    closeEnded(store);
    const route = predicted(state?.route ?? null, waiting());
    const [content, below] = screen(route);
    const driver = state?.driver;
    const since = isReachable ? 0 : store.since;
    show("bar", JSON.stringify([driver]), () => (driver ? [part("bar", driver, actions)] : []));
    const shown = [moves, isStuck, driver, Boolean(route), gone, isLoggedOut, isReachable, since, location, problem, push];
    show("notices", JSON.stringify(shown), notices);
    const key = JSON.stringify([isLoggedOut, !state && isReachable, driver, state?.offers, route, chosen, moves.length, push]);
    show("screen", key, () => [content()]);
    show("actions", key, () => (below ? [below()] : []));
    countDown();
  });
}

// Draws the page from the store.
import { part, show, text, whenFree } from "../offline/dom.js";
import * as actions from "./actions.js";
import { stopCamera } from "./camera.js";
import { focusField } from "./field.js";
import * as scans from "./scans.js";
import { store, update } from "./store.js";

const time = new Intl.DateTimeFormat(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const clockTime = (moment) => time.format(new Date(moment));

const kindOf = (scan) => scan.outcome?.kind ?? "waiting";
const whose = ({ orderId, sellerName } = {}) => [orderId, sellerName].filter(Boolean).join(" · ");

function moveName({ status, reasonCode, place }) {
  return [text(`status.${status}`), reasonCode && text(`reason.${reasonCode}`), place].filter(Boolean).join(" · ");
}

function refusedPart(scan) {
  const { code, status, madeAt, outcome } = scan;
  const values = {
    code,
    move: text(`status.${status}`),
    at: clockTime(madeAt),
    detail: outcome.detail,
    order: whose(outcome),
    sellers: (outcome.sellers ?? []).map(({ reference, name }) => (
      part("seller", { name, reference }, { choose: () => actions.choose(scan, reference) })
    )),
  };
  return part("refused", values, { dismiss: () => actions.dismiss(scan) });
}

function notices() {
  const { problem, isReachable, isStuck, state } = store;
  const found = [];
  if (problem) found.push(part("problem", { detail: problem }, { dismiss: () => update({ problem: "" }) }));
  if (!isReachable && state) found.push(part("unreachable"));
  if (isStuck) found.push(part("stuck", {}, { again: scans.sendAgain }));
  if (state && scans.unsentOfOthers()) found.push(part("unsent-others"));
  return found;
}

/** The state of the last scan: the part's name and its values. */
function last() {
  if (!store.last) return ["last-none", {}];
  const { kind, id, code } = store.last;
  const scan = store.scans.find((each) => each.id === id);
  if (kind === "again") return ["last-again", { code, order: whose(scan?.outcome) }];
  if (kind !== "scan") return [`last-${kind}`, { code }];
  if (!scan) return ["last-none", {}];
  const { outcome } = scan;
  return [`last-${kindOf(scan)}`, { code, order: whose(outcome), detail: outcome?.detail }];
}

function row(scan) {
  const kind = kindOf(scan);
  const values = {
    [kind]: true, code: scan.code, order: whose(scan.outcome), at: clockTime(scan.madeAt),
    status: text(`status.${scan.outcome?.now || scan.status}`),
  };
  return part("row", values);
}

function screen() {
  const { state, isLoggedOut, isForbidden, isReachable } = store;
  if (isForbidden) return part("forbidden");
  if (isLoggedOut) return part("logged-out", { waiting: scans.unsentOfAll(), leaving: store.isLeaving });
  if (!state) return part("starting", { unreachable: !isReachable });
  return scans.hasMove() ? null : part("choose", {}, { chooseMove: actions.chooseMove });
}

function draw() {
  const { state, camera, hasLight, hasSound } = store;
  const other = screen();
  const kind = JSON.stringify([state?.person, store.isLoggedOut, store.isLeaving, store.isForbidden, store.isReachable, Boolean(other), scans.unsentOfAll() > 0]);
  const found = notices();
  show("bar", JSON.stringify([state?.person, hasSound]), () => [state ? part("bar", { ...state.person, sound: hasSound }, actions) : part("brand")]);
  show("notices", found.map((each) => each.outerHTML).join(""), () => found);
  show("screen", other ? kind : "", () => (other ? [other] : []));
  const areReady = document.querySelectorAll("[data-ready]");
  const wasHidden = areReady[0].hidden;
  for (const each of areReady) each.hidden = Boolean(other);
  if (other) {
    if (camera) stopCamera(); // nobody may scan
    return;
  }
  show("move", JSON.stringify(store.move), () => [part("chosen", { move: moveName(store.move) }, { chooseMove: actions.chooseMove })]);
  const [name, values] = last();
  show("last", JSON.stringify([name, values]), () => [part(name, values)]);
  const refused = scans.refused();
  show("refused", JSON.stringify(refused.map(({ id }) => id)), () => refused.map(refusedPart));
  const counts = { done: store.done, waiting: scans.waiting().length, refused: refused.length };
  show("counts", JSON.stringify(counts), () => [part("counts", counts)]);
  const rows = scans.listed();
  show("list", JSON.stringify(rows.map((scan) => [scan.id, scan.outcome])), () => rows.map(row));
  document.getElementById("camera").hidden = camera !== "on";
  document.getElementById("light").hidden = !hasLight;
  document.getElementById("camera-button").setAttribute("aria-pressed", String(Boolean(camera)));
  if (wasHidden) focusField();
}

/** Draw the page, later if a finger is on it. */
export const drawWhenFree = () => whenFree(draw);

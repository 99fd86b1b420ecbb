// What the buttons do.
import { text } from "../offline/dom.js";
import { speak } from "../offline/kept_page.js";
import { Refused, Unreachable } from "../offline/server.js";
import { openSheet } from "../offline/sheets.js";
import { startCamera, stopCamera, switchLight } from "./camera.js";
import { keep } from "./database.js";
import { isTypedByHand, typeByHand } from "./field.js";
import * as scans from "./scans.js";
import { load, logOut } from "./server.js";
import { store, update } from "./store.js";

const WITH_REASON = new Set(["delivery_failed", "returned"]);
const OTHER = "OTHER"; // the reason that needs a text

const FAULTS_OF_CAMERA = { NotAllowedError: "error.camera_denied", NetworkError: "error.unreachable" }; // of the library

/** Do this, and say what went wrong. */
async function attempt(act) {
  try {
    await act();
  } catch (error) {
    if (error instanceof Unreachable) update({ problem: text("error.unreachable") });
    else if (error instanceof DOMException) {
      update({ problem: text("error.kept") });
      scans.tellRefused();
    } else if (!(error instanceof Refused)) { // logged out, or may not scan: the page says which
      throw error;
    }
  }
}

export const take = (code) => attempt(() => scans.take(code));
export const dismiss = (scan) => attempt(() => scans.dismiss(scan));
export const choose = (scan, seller) => attempt(() => scans.choose(scan, seller));

export const undo = () => attempt(async () => {
  if (await scans.undo()) return;
  const last = scans.shown();
  const now = last?.outcome?.now;
  const values = {
    none: !last || (last.outcome && last.outcome.kind !== "done"),
    sent: last && !last.outcome,
    moves: now && text(`next.${now}`),
    ended: now && !text(`next.${now}`),
    status: now && text(`status.${now}`),
    code: last?.code,
  };
  openSheet("undo", values, { choose: (close) => { close(); chooseMove(); } });
});

export async function camera() {
  if (store.camera) {
    stopCamera();
    return;
  }
  update({ problem: "" });
  try {
    await startCamera(take);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    update({ problem: text(FAULTS_OF_CAMERA[error.name] ?? "error.camera") });
  }
}

export const light = switchLight;
export const type = (event) => {
  typeByHand(!isTypedByHand());
  event.currentTarget.setAttribute("aria-pressed", String(isTypedByHand()));
};

export function chooseMove() {
  const before = store.move ?? {};
  const sheet = openSheet("move", {}, {
    confirm: async (close) => {
      const form = new FormData(sheet.querySelector("form"));
      const status = form.get("status") ?? "";
      const hasReason = WITH_REASON.has(status);
      const reasonCode = hasReason ? form.get("reasonCode") : "";
      const reason = hasReason && reasonCode ? form.get("reason").trim() : "";
      const fault = !status ? "move" : hasReason && !reasonCode ? "reason" : reasonCode === OTHER && !reason ? "other" : "";
      sheet.querySelector(".problem").textContent = fault && text(`error.${fault}`);
      if (fault) return;
      const move = scans.chosen({ status, reasonCode, reason, place: form.get("place").trim() });
      update({ move });
      close();
      await attempt(() => keep("move", move));
    },
  });
  const form = sheet.querySelector("form");
  const show = () => {
    const status = form.elements.status.value;
    sheet.querySelector("[data-reasons]").hidden = !WITH_REASON.has(status);
    sheet.querySelector("[data-words]").hidden = !form.elements.reasonCode.value;
  };
  form.elements.place.value = before.place ?? "";
  if (scans.hasMove()) for (const name of ["status", "reasonCode", "reason"]) form.elements[name].value = before[name];
  form.addEventListener("change", show);
  show();
}

export const sound = () => {
  update({ hasSound: !store.hasSound });
  keep("sound", store.hasSound);
};

export function menu() {
  openSheet("menu", { hasPanel: store.state.person.hasPanel, waiting: scans.waiting().length }, {
    language: (close, event) => {
      const language = event.currentTarget.value;
      close();
      return attempt(() => speak(language, "/panel/scan/", load));
    },
    logOut: (close) => {
      close();
      return attempt(logOut);
    },
  });
}


// Sheets: what covers the page until it is closed. The action of each is at the bottom, in reach of the thumb.
import { part, text } from "./dom.js";
import { navigation, place } from "./format.js";
import { photoPart } from "./photos.js";
import { draft, keepDraft } from "./proofs.js";
import { add } from "./queue.js";

const PIN = /^[0-9]{4}$/u;
// A second tap of the finger that opened a sheet does not confirm it.
const UNTOUCHED = 400; // milliseconds
const LONGEST_REASON = 255;

export const isSheetOpen = () => document.querySelector("dialog[open]") !== null;

/** Close what is about a route that has changed under the driver's hands. */
export function closeSheets() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
}

/** Show a sheet: the part with this name. `actions` get a function that closes it. Returns the part. */
export function openSheet(name, values, actions = {}) {
  const dialog = document.createElement("dialog");
  const opened = performance.now();
  let isBusy = false; // a second tap while the first one's action is under way does nothing
  const close = () => dialog.close();
  const guarded = Object.entries(actions).map(([key, act]) => [key, async (event) => {
    if (isBusy || performance.now() - opened < UNTOUCHED) return;
    isBusy = true;
    try {
      await act(close, event);
    } finally {
      isBusy = false;
    }
  }]);
  const sheet = part(name, values, { close, ...Object.fromEntries(guarded) });
  const heading = sheet.querySelector("h1");
  heading.id = "sheet-title";
  heading.tabIndex = -1;
  heading.autofocus = true; // not the first field, which would open the keyboard
  dialog.setAttribute("aria-labelledby", heading.id);
  dialog.append(sheet);
  dialog.addEventListener("close", () => dialog.remove());
  sheet.addEventListener("submit", (event) => event.preventDefault()); // Enter in a field
  document.body.append(dialog);
  dialog.showModal();
  return sheet;
}

export function openNavigation(point) {
  openSheet("navigate", navigation(point.coordinates));
}

function explainIn(sheet) {
  const problem = sheet.querySelector(".problem");
  return (message) => {
    problem.textContent = message;
    if (message) problem.scrollIntoView({ block: "nearest" });
  };
}

// Keeps the move and closes the sheet; it stays open with what was entered when the phone cannot keep the move.
async function confirm(move, close, explain) {
  try {
    await add(move);
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    explain(text("error.kept"));
    return;
  }
  close();
}

/** For `collect` and `return`. */
export function openStep(route, { trigger, point }) {
  const sheet = openSheet(trigger, { address: place(point) }, {
    confirm: (close) => confirm({ deliveryId: route.deliveryId, trigger }, close, explain),
  });
  const explain = explainIn(sheet);
}

async function photosAt(route, point, { required, photos, entered, explain }) {
  const at = { deliveryId: route.deliveryId, point: point.label };
  return photoPart({
    photos,
    required,
    place: at,
    fail: explain,
    changed: async () => {
      explain("");
      try {
        await keepDraft(at.deliveryId, at.point, { receivedBy: entered(), photos });
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        explain(text("error.kept"));
      }
    },
  });
}

function pinPart() {
  const element = part("pin");
  const input = element.querySelector("input");
  const pad = element.querySelector(".pad");
  for (const digit of ["1", "2", "3", "4", "5", "6", "7", "8", "9", "", "0", "⌫"]) {
    const button = document.createElement(digit ? "button" : "span");
    button.textContent = digit;
    button.type = "button";
    button.addEventListener("click", () => {
      if (digit === "⌫") input.value = input.value.slice(0, -1);
      else if (input.value.length < input.maxLength) input.value += digit;
    });
    pad.append(button);
  }
  return element;
}

/** Proof of delivery at a point. What was entered there before is there again. */
export async function openProof(route, point) {
  const { receivedBy, photos } = await draft(route.deliveryId, point.label);
  if (isSheetOpen()) return; // by a second tap
  const sheet = openSheet("proof", { label: point.label, address: place(point), needsPin: point.needsPin, pin: pinPart() }, {
    confirm: async (close) => {
      const pin = point.needsPin ? sheet.querySelector("[name=pin]").value : "";
      if (point.needsPhoto && !photos.length) explain(text("error.needs_photo"));
      else if (point.needsPin && !PIN.test(pin)) explain(text("error.pin"));
      else await confirm({ ...move, receivedBy: name.value.trim(), pin, photos: photos.map((photo) => photo.id) }, close, explain);
    },
  });
  const explain = explainIn(sheet);
  const move = { deliveryId: route.deliveryId, trigger: "deliver", point: point.label };
  const name = sheet.querySelector("[name=receivedBy]");
  name.value = receivedBy;
  const photo = await photosAt(route, point, { required: point.needsPhoto, photos, entered: () => name.value, explain });
  sheet.querySelector("[data-slot=photos]").append(photo);
}

/** Why a point was not delivered, with photos. */
export async function openFailure(route, point) {
  const { receivedBy, photos } = await draft(route.deliveryId, point.label);
  if (isSheetOpen()) return; // by a second tap
  const sheet = openSheet("failure", { label: point.label, address: place(point) }, {
    confirm: async (close) => {
      const chosen = sheet.querySelector("[name=reason]:checked");
      const more = sheet.querySelector("[name=more]").value.trim();
      const reason = [chosen?.value, more].filter(Boolean).join(": ").slice(0, LONGEST_REASON);
      if (!reason) explain(text("error.other"));
      else await confirm({ ...move, reason, photos: photos.map((photo) => photo.id) }, close, explain);
    },
  });
  const explain = explainIn(sheet);
  const move = { deliveryId: route.deliveryId, trigger: "fail", point: point.label };
  const photo = await photosAt(route, point, { required: false, photos, entered: () => receivedBy, explain });
  sheet.querySelector("[data-slot=photos]").append(photo);
}

// The sheets of a route: navigation, each move, proof and failure.
import { part, text } from "../offline/dom.js";
import { isSheetOpen, openSheet } from "../offline/sheets.js";
import { navigation, place } from "./format.js";
import { photoPart } from "./photos.js";
import { draft, keepDraft } from "./proofs.js";
import { add, dismiss, outcome } from "./queue.js";

const PIN = /^[0-9]{4}$/u;
const OTHER = "OTHER"; // the code of a failure that needs a text
const ABSENT = "ABSENT";
const OF_PIN = new Set(["pin", "wrong_pin", "pin_locked"]); // codes of what is wrong with it

export function openNavigation(point) {
  openSheet("navigate", navigation(point.coordinates));
}

// Shows what is wrong, instead of what was wrong before: about the PIN at its keys, without the wrong one, else at the end.
function explainIn(sheet) {
  return (message, code = "") => {
    for (const each of sheet.querySelectorAll(".content > .problem, .pin .problem")) each.textContent = "";
    const problem = sheet.querySelector(OF_PIN.has(code) ? ".pin .problem" : ".content > .problem");
    problem.textContent = message;
    if (code === "wrong_pin") sheet.querySelector("[name=pin]").value = "";
    if (message) problem.scrollIntoView({ block: "nearest" });
  };
}

// Keeps the move and closes the sheet when it is done, or waits for a connection. The sheet stays open with what was
// entered, and says why, when the phone cannot keep the move or the service refuses it, which is said last: the button can be
// pressed again then.
async function confirm(sheet, move, explain, afterRefusal = () => {}) {
  document.body.setAttribute("aria-busy", "true");
  try {
    explain("");
    const refused = await outcome(await add(move), move);
    if (refused && sheet.isConnected) {
      await dismiss(refused);
      await afterRefusal();
      explain(refused.refused.detail, refused.refused.code);
    } else {
      sheet.closest("dialog")?.close();
    }
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    explain(text("error.kept"));
  } finally {
    document.body.removeAttribute("aria-busy");
  }
}

// What is collected or brought in a step: everything at A, what was not delivered, or in mode REVERSE the goods of stops.
function goodsOf(route, { trigger, point }) {
  const stops = route.points.slice(1);
  if (point.label !== "A") return [point];
  if (trigger === "return" && route.mode === "REVERSE") return stops.filter(({ status, wasCollected }) => status === "COLLECTED" || wasCollected);
  return stops.filter(({ status }) => status !== "DELIVERED");
}

/** For `collect` and `return`, with what is to be collected, or what is brought. */
export function openStep(route, { trigger, point }) {
  const goods = goodsOf(route, { trigger, point }).map(({ label, externalId, contacts }) => part("goods", { label, order: externalId, person: contacts.name }));
  const move = { deliveryId: route.deliveryId, trigger, ...(point.label === "A" ? {} : { point: point.label }) };
  const sheet = openSheet(trigger, { label: point.label, address: place(point), goods, bring: route.mode === "REVERSE" }, {
    confirm: () => confirm(sheet, move, explain),
  });
  const explain = explainIn(sheet);
}

// The photos of a sheet, and what is done at the point: with them, and without those that the service has refused.
async function photosIn(sheet, { move, required, photos, entered, explain }) {
  const { deliveryId, point } = move;
  const shown = await photoPart({
    photos,
    required,
    place: { deliveryId, point },
    changed: async () => {
      explain("");
      try {
        await keepDraft(deliveryId, point, { receivedBy: entered(), photos });
      } catch (error) {
        if (!(error instanceof DOMException)) throw error;
        explain(text("error.kept"));
      }
    },
  });
  sheet.querySelector("[data-slot=photos]").append(shown.element);
  return {
    fail: shown.fail,
    confirm: (values) => confirm(sheet, { ...move, ...values, photos: photos.map((photo) => photo.id) }, explain, async () => {
      shown.keepOnly((await draft(deliveryId, point)).photos);
    }),
  };
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
  const mayLeave = point.onFailure === "LEAVE";
  const sheet = openSheet("proof", { label: point.label, address: place(point), needsPin: point.needsPin, pin: pinPart(), mayLeave }, {
    confirm: async () => {
      const left = sheet.querySelector("[name=left]")?.checked ?? false;
      const pin = point.needsPin && !left ? sheet.querySelector("[name=pin]").value : "";
      if ((point.needsPhoto || left) && !photos.length) taken.fail(text("error.needs_photo"));
      else if (point.needsPin && !left && !PIN.test(pin)) explain(text("error.pin"), "pin");
      else await taken.confirm(left ? { left } : { receivedBy: name.value.trim(), pin });
    },
  });
  sheet.querySelector("[name=left]")?.addEventListener("change", (event) => {
    for (const each of sheet.querySelectorAll(".with-person")) each.hidden = event.target.checked;
  });
  const explain = explainIn(sheet);
  const name = sheet.querySelector("[name=receivedBy]");
  name.value = receivedBy;
  const move = { deliveryId: route.deliveryId, trigger: "deliver", point: point.label };
  const taken = await photosIn(sheet, { move, required: point.needsPhoto, photos, entered: () => name.value, explain });
}

/** Why a point was not delivered, with photos. */
export async function openFailure(route, point) {
  const { receivedBy, photos } = await draft(route.deliveryId, point.label);
  if (isSheetOpen()) return; // by a second tap
  const { call, shown } = point.phone;
  const isPickup = route.mode === "REVERSE";
  const values = {
    label: point.label, address: place(point), call, phone: shown, isPickup,
    mayLeave: !isPickup && point.onFailure === "LEAVE",
    again: !isPickup && point.onFailure === "RETRY" && !point.wasTried,
  };
  const sheet = openSheet("failure", values, {
    confirm: async () => {
      const code = sheet.querySelector("[name=code]:checked")?.value;
      const reason = sheet.querySelector("[name=reason]").value.trim();
      if (!code) explain(text("error.reason"));
      else if (code === OTHER && !reason) explain(text("error.other"));
      else if (route.photoFor.includes(code) && !photos.length) taken.fail(text("error.needs_photo"));
      else await taken.confirm({ code, reason });
    },
  });
  const explain = explainIn(sheet);
  sheet.addEventListener("change", () => {
    const isAbsent = sheet.querySelector("[name=code]:checked")?.value === ABSENT;
    for (const each of sheet.querySelectorAll(".if-absent")) each.hidden = !isAbsent;
  });
  const move = { deliveryId: route.deliveryId, trigger: "fail", point: point.label, wasTried: point.wasTried };
  const taken = await photosIn(sheet, { move, required: false, photos, entered: () => receivedBy, explain });
}

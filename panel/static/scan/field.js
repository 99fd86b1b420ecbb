// The field that keyboard readers write into. It has the focus unless somebody works elsewhere on the page.
import { isSheetOpen } from "../offline/sheets.js";

const field = document.getElementById("code");
const OTHERS = "input, select, textarea";

export function focusField() {
  if (!isSheetOpen() && !field.closest("[hidden]")) field.focus({ preventScroll: true });
}

/** Whether a phone shows its keyboard for the field. Readers need none, and it would cover the page. */
export function typeByHand(isOn) {
  field.inputMode = isOn ? "text" : "none";
  field.blur(); // or the keyboard stays as it is
  focusField();
}

export const isTypedByHand = () => field.inputMode === "text";

/** Call `taken` with each code: Enter or Tab ends one. */
export function startField(taken) {
  const end = () => {
    const { value } = field;
    field.value = "";
    taken(value);
  };
  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    end();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Tab" || event.shiftKey || !field.value.trim()) return;
    event.preventDefault();
    end();
  });
  // The first character of a reader moves the focus, and is written into the field.
  document.addEventListener("keydown", ({ key, target, ctrlKey, altKey, metaKey }) => {
    if (key.length === 1 && key !== " " && !ctrlKey && !altKey && !metaKey && !target.matches(OTHERS)) focusField();
  });
  // After a finger or the mouse; who works by keyboard stays where they are.
  document.addEventListener("click", ({ detail, target }) => {
    if (detail && !target.closest(OTHERS)) setTimeout(focusField);
  });
  document.addEventListener("close", () => setTimeout(focusField), true); // of a sheet
  addEventListener("focus", ({ target }) => { if (target === window) focusField(); });
  typeByHand(false);
}

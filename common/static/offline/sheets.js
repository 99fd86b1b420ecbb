// Sheets: what covers the page until it is closed. The action of each is at the bottom, in reach of the thumb.
import { part } from "./dom.js";

// A second tap of the finger that opened a sheet does not confirm it.
const UNTOUCHED = 400; // milliseconds

export const isSheetOpen = () => document.querySelector("dialog[open]") !== null;

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

// Before all other scripts, so it is not deferred. Adds what the oldest browsers that work lack (see docs/operations.md), and
// shows `#old-browser` in those that are older still. Its own syntax is one that they read.
"use strict";

{
  const { crypto } = window;

  // Like `??=`, which is newer.
  const add = (to, name, made) => {
    if (!to[name]) Object.defineProperty(to, name, { value: made, writable: true, configurable: true });
  };

  const timeout = (milliseconds) => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), milliseconds);
    return controller.signal;
  };

  const randomUUID = () => {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    bytes[6] = (bytes[6] & 0x0f) | 0x40;
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    return digits.replace(/^(.{8})(.{4})(.{4})(.{4})/u, "$1-$2-$3-$4-");
  };

  // A button submits with the checks of the form and its event, which `submit()` leaves out.
  function requestSubmit() {
    const button = Object.assign(document.createElement("button"), { hidden: true });
    this.append(button);
    button.click();
    button.remove();
  }

  add(AbortSignal, "timeout", timeout); // Chrome 103, Safari 16
  add(window, "structuredClone", (value) => JSON.parse(JSON.stringify(value))); // Chrome 98; of JSON values
  add(Array.prototype, "at", function at(index) { return this[index < 0 ? this.length + index : index]; }); // Chrome 92
  add(Array.prototype, "findLast", function findLast(is) { return [...this].reverse().find(is); }); // Chrome 97
  add(Object, "hasOwn", (object, name) => Object.prototype.hasOwnProperty.call(object, name)); // Chrome 93
  if (crypto) add(crypto, "randomUUID", randomUUID); // Chrome 92, and only where the address is https://
  add(HTMLFormElement.prototype, "requestSubmit", requestSubmit); // Safari 16
  add(Element.prototype, "checkVisibility", function checkVisibility() { // Chrome 105, Safari 17.4
    return this.getClientRects().length > 0 && getComputedStyle(this).visibility === "visible";
  });

  // What cannot be added. `Promise.any` is as old as the syntax of the other scripts.
  const has = {
    syntax: Boolean(Promise.any),
    dialog: "HTMLDialogElement" in window,
    locks: "locks" in navigator, // only where the address is https://
    database: "indexedDB" in window,
  };
  document.addEventListener("DOMContentLoaded", () => {
    const notice = document.getElementById("old-browser");
    if (notice) notice.hidden = notice.dataset.needs.split(" ").every((name) => has[name]);
  });
}

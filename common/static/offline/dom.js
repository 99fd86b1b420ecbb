// Fills parts of the page: copies of its <template> elements, which hold the texts. In them
//
//   data-if="name"     is left out unless the value is true; "!name" unless it is false
//   data-text="name"   has the value as its text
//   data-slot="name"   has the value, an element or several, as its children
//   data-href="name"   links to the value
//   data-do="name"     calls the action when it is pressed
//   data-until="name"  shows the time that is left until the value, a moment (see `clock.js`)

const TEXTS = JSON.parse(document.getElementById("texts").textContent);

/** A text that the page has by this name; %s in it is replaced. */
export function text(name, value = "") {
  return TEXTS[name].replace("%s", value);
}

export function part(name, values = {}, actions = {}) {
  const root = document.getElementById(`part-${name}`).content.cloneNode(true).firstElementChild;
  const each = (attribute, act) => {
    for (const element of [root, ...root.querySelectorAll(`[data-${attribute}]`)]) {
      if (element.dataset[attribute] !== undefined) act(element, element.dataset[attribute]);
    }
  };
  each("if", (element, key) => {
    if (key.startsWith("!") ? values[key.slice(1)] : !values[key]) element.remove();
  });
  each("text", (element, key) => { element.textContent = values[key] ?? ""; });
  each("href", (element, key) => { element.href = values[key]; });
  each("until", (element, key) => { element.dataset.moment = values[key]; });
  each("do", (element, key) => { element.addEventListener("click", (event) => actions[key](event)); });
  // Last: what comes into slots has values and actions of its own.
  each("slot", (element, key) => { element.replaceChildren(...[values[key] ?? []].flat()); });
  return root;
}

let isPressed = false;
let postponed = null;

// An element that is replaced while a finger is on it would not be clicked.
addEventListener("pointerdown", () => { isPressed = true; }, true);
for (const end of ["pointerup", "pointercancel"]) {
  addEventListener(end, () => {
    isPressed = false;
    if (postponed) setTimeout(postponed); // after the click
    postponed = null;
  }, true);
}

/** Call `draw`, later if a finger is on the page. */
export function whenFree(draw) {
  if (isPressed) postponed = draw;
  else draw();
}

// By element: what it shows, to leave alone what is the same, with the focus that somebody has there.
const shown = new Map();

/**
 * Show these elements in the one with the id. `key` says what they show; with the same one nothing changes. Details that have an id
 * stay open.
 */
export function show(id, key, elements) {
  if (shown.get(id) === key) return;
  shown.set(id, key);
  const container = document.getElementById(id);
  const focusable = () => [...container.querySelectorAll("a[href], button, summary")];
  const place = focusable().indexOf(document.activeElement);
  const opened = [...container.querySelectorAll("details[open][id]")];
  container.replaceChildren(...elements());
  for (const { id: own } of opened) document.getElementById(own)?.setAttribute("open", "");
  if (place >= 0) focusable()[place]?.focus({ preventScroll: true });
}

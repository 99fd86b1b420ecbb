// The moves of the dispatch board. "Collect", "Deliver" and "Return" wait five seconds, in which the button undoes them;
// closing the page sends what waits. The other moves have a dialog, or a click on the map.
"use strict";

(() => {
  const HOLD_SECONDS = 5;
  const dialog = document.getElementById("move");
  const message = document.getElementById("board-message");
  const holds = new Map(); // id of a button -> {address, point, route, ends}
  const token = () => JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];

  // --- The result of a move

  // A success disappears after eight seconds, an error with a click or the next result.
  let hiding;
  new MutationObserver(() => {
    clearTimeout(hiding);
    if (!message.querySelector(".error")) hiding = setTimeout(() => { message.textContent = ""; }, 8000);
  }).observe(message, { childList: true });
  message.addEventListener("click", () => { message.textContent = ""; });
  function sayError(text) {
    const paragraph = document.createElement("p");
    paragraph.className = "notice error";
    paragraph.textContent = text;
    message.replaceChildren(paragraph);
  }

  // What was not recorded because the session had ended is said after the log-in.
  const LOST = "board-not-recorded";
  if (sessionStorage.getItem(LOST)) sayError(sessionStorage.getItem(LOST));
  sessionStorage.removeItem(LOST);

  async function perform(address, fields, id, extra = {}) {
    const hadFocus = document.activeElement === document.body || document.activeElement?.closest(`#route-${id}`);
    let answer;
    try {
      answer = await fetch(address, { method: "POST", body: new URLSearchParams(fields), headers: { "X-CSRFToken": token(), "HX-Request": "true", "HX-Current-URL": location.href, ...extra }, keepalive: true, signal: AbortSignal.timeout(20000) });
    } catch {
      sayError(board.words.unsent);
      return board.connected(false);
    }
    if (answer.headers.has("HX-Redirect")) {
      sessionStorage.setItem(LOST, board.words.loggedOut);
      return board.leave(answer.headers.get("HX-Redirect"));
    }
    if (!answer.ok) return sayError(board.words.unrecorded.replace("%s", answer.status));
    message.innerHTML = await answer.text(); // of this service
    await afterMove(id, hadFocus);
  }

  async function afterMove(id, takesFocus) {
    await board.refreshSome([id]);
    const focus = document.activeElement;
    if (takesFocus && (focus === document.body || focus.closest(`#route-${id}`))) board.nextMove(id)?.focus({ preventScroll: true });
  }

  // --- Moves that wait and can be undone

  // For screen readers, which do not read a button whose text changes.
  const announce = (text) => { document.getElementById("announcement").textContent = text; };

  function label(button) {
    const hold = holds.get(button.id);
    button.dataset.label ??= button.innerHTML;
    button.classList.toggle("held", Boolean(hold));
    const left = hold && Math.max(0, Math.ceil((hold.ends - Date.now()) / 1000));
    const html = hold ? board.words.undo.replace("%s", left) : button.dataset.label;
    if (button.innerHTML !== html) button.innerHTML = html;
  }

  // After a card was replaced: its buttons that wait, and the end of those it has no more.
  board.showHolds = (card) => {
    for (const button of card.querySelectorAll("[data-holds]")) if (holds.has(button.id)) label(button);
    for (const [key, hold] of holds) if (hold.route === card.dataset.id && !card.querySelector(`#${key}`)) holds.delete(key);
  };

  function send(key, extra) {
    const hold = holds.get(key);
    holds.delete(key);
    const button = document.getElementById(key);
    if (button) label(button);
    return perform(hold.address, { point: hold.point }, hold.route, extra);
  }

  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-holds]");
    if (!button) return;
    if (holds.delete(button.id)) announce(board.words.undone);
    else {
      announce(board.words.held);
      holds.set(button.id, {
        address: button.dataset.holds, point: button.dataset.point ?? "", route: button.closest(".route").dataset.id, ends: Date.now() + HOLD_SECONDS * 1000,
      });
    }
    label(button);
  });
  setInterval(() => {
    for (const [key, hold] of holds) {
      if (hold.ends <= Date.now()) send(key);
      else if (document.getElementById(key)) label(document.getElementById(key));
    }
  }, 250);
  board.leaving.push(() => {
    if (holds.size) sessionStorage.setItem(LOST, board.words.loggedOut);
    holds.clear();
  });
  window.addEventListener("pagehide", () => { for (const key of [...holds.keys()]) send(key, { "Rota-Leaving": "yes" }); });

  // --- Moves with a dialog

  let opener = ""; // id of the route
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".route [hx-get]");
    if (button) opener = button.closest(".route").dataset.id;
  });
  // Open the dialog after htmx has attached its listeners: text typed earlier would not trigger the search.
  document.body.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id === "move" && event.target.children.length && !dialog.open) dialog.showModal();
  });
  document.body.addEventListener("moved", () => { dialog.close(); afterMove(opener, true); });
  document.body.addEventListener("refused", () => board.refreshSome([opener]));
  for (const name of ["sendError", "timeout"]) document.body.addEventListener(`htmx:${name}`, () => sayError(board.words.unsent));
  document.body.addEventListener("htmx:responseError", (event) => sayError(board.words.unrecorded.replace("%s", event.detail.xhr.status)));

  // --- A position from a click on the map

  const picker = document.getElementById("picker");
  let stop = null;
  function stopPicking() {
    if (!stop) return;
    stop();
    stop = null;
    picker.hidden = true;
    board.view(picker.dataset.before);
  }
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-picks]");
    if (!button) return;
    stopPicking();
    const route = button.closest(".route").dataset.id;
    picker.dataset.address = button.dataset.picks;
    picker.dataset.route = route;
    picker.querySelector("label").textContent = picker.dataset.words.replace("%s", button.dataset.driver);
    picker.dataset.before = document.getElementById("board").dataset.shown;
    board.view("map");
    picker.hidden = false;
    picker.elements.position.value = "";
    picker.elements.position.focus();
    stop = board.onNextClick((position) => { picker.elements.position.value = position; picker.requestSubmit(); });
    if (board.chosen !== route) board.choose(route);
  });
  picker.addEventListener("submit", (event) => {
    event.preventDefault();
    const { address, route } = picker.dataset;
    const position = picker.elements.position.value;
    stopPicking();
    perform(address, { position }, route);
    document.getElementById(`position-${route}`)?.focus({ preventScroll: true });
  });
  document.getElementById("stop-picking").addEventListener("click", stopPicking);
  picker.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); stopPicking(); } });
})();

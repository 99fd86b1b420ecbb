// The moves of the dispatch board. Each waits five seconds before it is sent, because its webhooks cannot be taken back: until
// then its button, the message's button and Ctrl-Z undo it. Leaving the page sends what waits. Only positions are set at once.
"use strict";

(() => {
  const HOLD_SECONDS = 5;
  const SHOWN = 8_000; // milliseconds, of a success
  const MOST_RESULTS = 6;
  const dialog = document.getElementById("move");
  const message = document.getElementById("board-message");
  const waiting = document.getElementById("holds");
  const holds = new Map(); // id of the button of a move -> {address, fields, route, ends, element}
  const token = () => JSON.parse(document.body.getAttribute("hx-headers"))["X-CSRFToken"];

  // --- The results of moves: an error stays until it is clicked

  function showResult(element) {
    message.append(element);
    while (message.children.length > MOST_RESULTS) message.firstElementChild.remove();
    if (!element.classList.contains("error")) setTimeout(() => element.remove(), SHOWN);
  }
  message.addEventListener("click", (event) => event.target.closest(".notice")?.remove());
  function sayError(text) {
    showResult(Object.assign(document.createElement("p"), { className: "notice error", textContent: text }));
  }
  board.sayError = sayError;

  // What was not recorded because the session had ended is said after the log-in.
  const LOST = "board-not-recorded";
  if (sessionStorage.getItem(LOST)) sayError(sessionStorage.getItem(LOST));
  sessionStorage.removeItem(LOST);

  board.perform = async (address, fields, id, extra = {}) => {
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
    const html = document.createElement("template");
    html.innerHTML = await answer.text(); // of this service
    if (answer.headers.get("HX-Retarget") === "#move") ask(html.content, id); // with the fee of now
    else showResult(html.content.querySelector(".notice"));
    await afterMove(id, hadFocus);
  };

  async function afterMove(id, takesFocus) {
    await board.refreshSome([id]);
    const focus = document.activeElement;
    if (takesFocus && (focus === document.body || focus.closest(`#route-${id}`))) board.nextMove(id)?.focus({ preventScroll: true });
  }

  // --- Moves that wait

  // For screen readers, which do not read a button whose text changes.
  const announce = (text) => { document.getElementById("announcement").textContent = text; };

  function label(button) {
    if (!button) return;
    const hold = holds.get(button.id);
    button.dataset.label ??= button.innerHTML;
    button.classList.toggle("held", Boolean(hold));
    const html = hold ? undoWords(hold) : button.dataset.label;
    if (button.innerHTML !== html) button.innerHTML = html;
  }
  const undoWords = (hold) => board.words.undo.replace("%s", Math.max(0, Math.ceil((hold.ends - Date.now()) / 1000)));

  // Makes a move in five seconds. `key` is the id of its button; `words` say what is going to happen.
  board.hold = (key, { address, fields, route, words }) => {
    drop(key);
    const element = document.createElement("p");
    element.className = "notice held-move";
    const names = ["name", "order"].map((part) => document.getElementById(`${part}-${route}`)?.textContent.trim());
    const undo = Object.assign(document.createElement("button"), { type: "button", className: "button small" });
    undo.addEventListener("click", () => board.undo(key));
    element.append(Object.assign(document.createElement("span"), { textContent: [words, ...names].filter(Boolean).join(" · ") }), undo);
    waiting.append(element);
    holds.set(key, { address, fields, route, element, ends: Date.now() + HOLD_SECONDS * 1000 });
    update(key);
    announce(board.words.held);
  };
  board.assign = (route, driver, name, move = "accept") => {
    const address = board.words.move.replace(/0{8}-[0-]+/, route).replace("MOVE", move);
    board.hold(`${move}-${route}`, { address, fields: { driver }, route, words: `${board.words.assign}: ${name}` });
  };
  function drop(key) {
    const hold = holds.get(key);
    holds.delete(key);
    hold?.element.remove();
    label(document.getElementById(key));
    return hold;
  }
  function update(key) {
    const hold = holds.get(key);
    const button = hold.element.querySelector("button");
    if (button.textContent !== undoWords(hold)) button.textContent = undoWords(hold);
    label(document.getElementById(key));
  }
  board.undo = (key) => {
    if (drop(key)) announce(board.words.undone);
  };

  // After a card was replaced: its buttons that wait, and the end of those it has no more.
  board.showHolds = (card) => {
    for (const [key, hold] of holds) {
      if (hold.route !== card.dataset.id) continue;
      if (card.querySelector(`#${key}`)) label(card.querySelector(`#${key}`));
      else {
        drop(key);
        sayError(board.words.overtaken);
      }
    }
  };

  function send(key, extra) {
    const { address, fields, route } = drop(key);
    return board.perform(address, fields, route, extra);
  }

  // Before htmx, which would open the dialog again.
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".route button");
    if (!button || !holds.has(button.id)) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    board.undo(button.id);
  }, true);
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-holds]");
    if (!button) return;
    const fields = { point: button.dataset.point ?? "" };
    board.hold(button.id, { address: button.dataset.holds, fields, route: button.closest(".route").dataset.id, words: button.textContent.trim() });
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "z" || !(event.ctrlKey || event.metaKey) || event.target.matches("input:not([type=checkbox], [type=radio]), textarea") || !holds.size) return;
    event.preventDefault();
    board.undo([...holds.keys()].at(-1));
  });
  setInterval(() => {
    for (const [key, hold] of holds) {
      if (hold.ends <= Date.now()) send(key);
      else update(key);
    }
  }, 250);
  board.leaving.push(() => {
    if (holds.size) sessionStorage.setItem(LOST, board.words.loggedOut);
    holds.clear();
  });
  window.addEventListener("pagehide", () => { for (const key of [...holds.keys()]) send(key, { "Rota-Leaving": "yes" }); });

  // --- Moves with a dialog

  let opener = null; // the button: {id, route}
  document.addEventListener("click", (event) => {
    const button = event.target.closest(".route [hx-get]");
    if (button) opener = { id: button.id, route: button.closest(".route").dataset.id };
  });
  // Open the dialog after htmx has attached its listeners: text typed earlier would not trigger the search.
  document.body.addEventListener("htmx:afterSettle", (event) => {
    if (event.target.id === "move" && event.target.children.length && !dialog.open) {
      dialog.showModal();
      // A field with the focus would open the keyboard of a phone over the drivers.
      if (matchMedia("(pointer: coarse)").matches) dialog.querySelector("[name=driver]:checked")?.focus();
    }
  });
  function ask(content, route) {
    opener = { id: `cancel-${route}`, route };
    dialog.replaceChildren(content);
    htmx.process(dialog);
    dialog.showModal();
  }
  dialog.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-holds]");
    if (!form) return;
    event.preventDefault();
    const driver = form.querySelector("[name=driver]:checked")?.closest("label").querySelector(".driver-name").textContent;
    dialog.close(); // which gives the focus back to the button, whose next press undoes
    board.hold(opener.id, { address: form.dataset.holds, fields: new FormData(form), route: opener.route, words: [form.dataset.label, driver].filter(Boolean).join(": ") });
  });
  document.body.addEventListener("refused", () => board.refreshSome([opener.route]));
  for (const name of ["sendError", "timeout"]) document.body.addEventListener(`htmx:${name}`, () => sayError(board.words.unsent));
  document.body.addEventListener("htmx:responseError", (event) => sayError(board.words.unrecorded.replace("%s", event.detail.xhr.status)));
})();

// The list of the dispatch board: a card for each route of the tab, and the numbers on the tabs.
"use strict";

(() => {
  const list = document.getElementById("list");
  const routes = document.getElementById("routes");
  const most = Number(board.words.mostCards);
  const cards = new Map(); // id -> {element, version}
  // The status whose words fit what is due of a route on which the driver collects at the stops.
  const IN_REVERSE = { COLLECTED: "ACCEPTED", RETURNING: "COLLECTED" };
  const SOON_SECONDS = 15 * 60;
  let length = most; // how many routes the list shows; more when it is scrolled to its end

  // Keep new cards. The one that is shown is replaced in its place, with the focus where it was.
  board.keep = (htmls) => {
    for (const [id, html] of Object.entries(htmls)) {
      const made = document.createElement("template");
      made.innerHTML = html;
      const element = made.content.querySelector("article");
      const focused = document.activeElement?.closest(`#route-${id}`) && document.activeElement.id;
      const before = document.getElementById(`route-${id}`);
      if (before) before.replaceWith(element);
      cards.set(id, { element, version: board.routes.get(id)?.version });
      htmx.process(element);
      board.showHolds(element);
      if (focused) (document.getElementById(focused) ?? board.nextMove(id))?.focus({ preventScroll: true });
    }
  };

  // The button of the route's next move.
  board.nextMove = (id) => document.querySelector(`#route-${id} [data-next]`) ?? document.querySelector(`#route-${id} .choose`);

  board.reveal = async (id) => {
    const place = board.shown().findIndex((route) => route.id === id);
    if (place >= length) length = place + 1;
    await show();
    // Beside the map of a phone it is alone, and begins at its top.
    document.getElementById(`route-${id}`)?.scrollIntoView({ block: document.getElementById("board").dataset.shown === "map" ? "start" : "nearest" });
  };

  let fetching = null; // resolves when the cards that are asked for are shown
  function fetchMissing(shown) {
    const isMissing = (route) => cards.get(route.id)?.version !== route.version;
    const ids = shown.filter(isMissing).slice(0, most).map((route) => route.id);
    if (ids.length) fetching ??= fetchCards(ids);
    return fetching;
  }
  async function fetchCards(ids) {
    const began = performance.now();
    const found = await board.read(`${board.words.cards}&ids=${ids.join(",")}`);
    fetching = null;
    if (!found) return;
    board.showSome(ids, found, began);
    await fetching; // of further ones
  }

  function show() {
    const all = board.shown();
    const shown = all.slice(0, length);
    const wanted = shown.filter((route) => cards.has(route.id)).map((route) => cards.get(route.id).element);
    const focused = document.activeElement?.closest(".route") && document.activeElement;
    for (const element of [...routes.children]) if (!wanted.includes(element)) element.remove();
    wanted.forEach((element, index) => {
      if (routes.children[index] !== element) routes.insertBefore(element, routes.children[index] ?? null);
    });
    // Moving an element takes the focus from it; so does the end of its route.
    if (focused && !focused.isConnected) (board.nextMove(board.chosen) ?? routes.querySelector("[data-next]") ?? list).focus({ preventScroll: true });
    else if (focused && document.activeElement !== focused) focused.focus({ preventScroll: true });
    for (const id of cards.keys()) if (!board.routes.has(id)) cards.delete(id);
    document.getElementById("nothing").hidden = board.routes.size > 0;
    document.getElementById("nothing-found").hidden = !board.routes.size || all.length > 0 || !document.getElementById("ended").hidden;
    updateTabs();
    updateClocks();
    return fetchMissing(shown);
  }
  board.changed.push(show);

  function updateTabs() {
    for (const tab of document.querySelectorAll("[data-tab]")) {
      const found = board.inTab(tab);
      tab.querySelector("b").textContent = found.length;
      tab.setAttribute("aria-pressed", String(tab.dataset.tab === board.tab));
      tab.classList.toggle("alarm", tab.dataset.tab === "late" && found.length > 0);
      tab.classList.toggle("none", found.length === 0);
    }
  }

  // What changes with time alone.
  function updateClocks() {
    const now = Date.now() / 1000;
    for (const element of routes.children) {
      const route = board.routes.get(element.dataset.id);
      if (!route) continue;
      const isChosen = route.id === board.chosen;
      const left = route.due - now;
      element.classList.toggle("chosen", isChosen);
      element.classList.toggle("found", Boolean(board.matching?.has(route.id)));
      element.draggable = !isChosen && (route.status === "AVAILABLE" || route.status === "ACCEPTED"); // its text can be marked when unfolded
      element.classList.toggle("late", left < 0);
      element.classList.toggle("soon", left >= 0 && left < SOON_SECONDS);
      element.querySelector(".choose").setAttribute("aria-pressed", String(isChosen));
      element.querySelector(".unfold-card").setAttribute("aria-expanded", String(isChosen));
      const step = (route.reverse && IN_REVERSE[route.status]) || route.status;
      const due = board.words[`due${step[0]}${step.slice(1).toLowerCase()}`].replace("%s", `${board.moment(route.due, route.zone)}${route.zone ? ` (${route.zone[1]})` : ""}`);
      const lateness = element.querySelector(".lateness");
      write(lateness, left < 0 ? [board.words.late.replace("%s", board.duration(-left)), isChosen && due].filter(Boolean).join(" · ") : due);
      lateness.title = due;
      if (route.expires) write(element.querySelector(".expiry"), board.words.expires.replace("%s", board.time(route.expires, route.zone)));
      for (const place of element.querySelectorAll(".arrives")) {
        const { arrives, latest, heard } = route.points.find((point) => point.label === place.dataset.point) ?? {};
        const signal = Math.max(heard, route.driver?.at ?? 0);
        const isLate = latest < now || signal < now - Number(board.words.freshSeconds); // as delivery/arrival_times.py
        const words = isLate ? board.words.arrivesLate.replace("%s", board.moment(signal, route.zone)) : board.words.arrives.replace("%s", board.time(arrives, route.zone));
        write(place, arrives ? words : "");
        place.classList.toggle("bad-text", Boolean(arrives) && isLate);
      }
      const age = element.querySelector(".age");
      if (age && route.driver) {
        const { at } = route.driver;
        const isOld = Boolean(at) && at < now - Number(board.words.freshSeconds);
        const fresh = at ? board.words.positionAge.replace("%s", board.duration(Math.max(0, now - at))) : board.words.noPosition;
        write(age, isOld ? board.words.lastSignal.replace("%s", board.moment(at, route.zone)) : fresh);
        age.classList.toggle("old", isOld);
      }
    }
  }
  const write = (element, text) => { if (element && element.textContent !== text) element.textContent = text; };
  setInterval(() => { updateTabs(); updateClocks(); }, 1000);

  new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting) || length >= board.shown().length) return;
    length += most;
    show();
  }, { root: list, rootMargin: "600px" }).observe(document.getElementById("more"));

  // Dragged onto a free driver, a card is assigned to that driver. What changes the page within the event ends the drag.
  routes.addEventListener("dragstart", (event) => {
    board.dragged = board.routes.get(event.target.closest?.(".route")?.dataset.id) ?? null;
    if (!board.dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", board.dragged.id);
    setTimeout(async () => { if (await board.has("drivers") && board.dragged) board.drag(); });
  });

  routes.addEventListener("dragend", () => { board.dragged = null; });

  // A click anywhere on a card chooses it, except on what does something else.
  routes.addEventListener("click", (event) => {
    const card = event.target.closest(".route");
    const control = event.target.closest("a, button, input");
    if (!card || (control && !control.matches(".choose, .unfold-card")) || String(getSelection())) return;
    if (control || card.dataset.id !== board.chosen) board.choose(card.dataset.id, { scroll: true, fit: true });
  });
})();

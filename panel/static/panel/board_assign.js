// The drivers of the dispatch board, and assigning: by dragging a card onto a driver, and for several routes at once.
"use strict";

(() => {
  const root = document.getElementById("board");
  const list = document.getElementById("on-duty-list");
  const search = document.getElementById("find-driver");
  const bar = document.getElementById("picked");
  const dialog = document.getElementById("move");
  const picked = new Set(); // ids of routes
  const AGAIN = 15_000; // milliseconds

  // --- The drivers

  const toggle = document.getElementById("show-drivers");
  let reading = null;
  const isOpen = () => root.dataset.drivers === "open" || root.dataset.shown === "drivers";
  board.readDrivers = () => {
    clearTimeout(reading);
    if (!isOpen()) return;
    reading = setTimeout(board.readDrivers, AGAIN);
    if (!document.hidden) htmx.ajax("GET", `${board.words.onDuty}&q=${encodeURIComponent(search.value.trim())}`, { target: list, swap: "innerHTML" });
  };
  function showDrivers(open) {
    root.dataset.drivers = open ? "open" : "";
    toggle.setAttribute("aria-pressed", String(open));
    board.readDrivers();
  }
  toggle.addEventListener("click", () => showDrivers(!isOpen()));
  document.querySelector("[data-view=drivers]").addEventListener("click", board.readDrivers);
  let typing;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(board.readDrivers, 250); });
  list.addEventListener("click", (event) => {
    const { finds } = event.target.closest("[data-finds]")?.dataset ?? {};
    if (!finds) return;
    const { route } = event.target.closest(".duty").dataset;
    if (route && board.chosen !== route) board.choose(route, { scroll: true, fit: true });
    else if (!route) board.showDriver(finds);
  });

  // --- Dragging a card onto a free driver, in the list or on the map

  let dragged = null; // a route
  let opened = false; // for this drag
  const target = (event) => dragged && event.target.closest?.("[data-driver]");
  const routes = document.getElementById("routes");
  routes.addEventListener("dragstart", (event) => {
    dragged = board.routes.get(event.target.closest?.(".route")?.dataset.id) ?? null;
    if (!dragged) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", dragged.id);
    opened = !isOpen();
    if (opened) setTimeout(() => showDrivers(true)); // a change of the page within the event ends the drag
    root.classList.add("dragging");
  });
  routes.addEventListener("dragend", () => {
    if (opened) showDrivers(false);
    dragged = null;
    root.classList.remove("dragging");
  });
  document.addEventListener("dragover", (event) => {
    for (const before of document.querySelectorAll(".drop")) if (before !== target(event)) before.classList.remove("drop");
    if (!target(event)) return;
    event.preventDefault();
    target(event).classList.add("drop");
  });
  document.addEventListener("drop", (event) => {
    const place = target(event);
    if (!place) return;
    event.preventDefault();
    place.classList.remove("drop");
    const { driver, name, vehicle } = place.dataset;
    if (vehicle !== dragged.vehicle) return board.sayError(board.words.otherVehicle.replace("%s", () => name));
    assign(dragged.id, driver, name, dragged.status === "AVAILABLE" ? "accept" : "reassign");
  });

  function assign(route, driver, name, move = "accept") {
    board.hold(`${move}-${route}`, { address: board.words.move.replace(/0{8}-[0-]+/, route).replace("MOVE", move), fields: { driver }, route, words: `${board.words.assign}: ${name}` });
  }

  // --- Several routes

  function showPicked() {
    for (const id of picked) if (board.routes.get(id)?.status !== "AVAILABLE") picked.delete(id);
    for (const box of document.querySelectorAll(".pick")) box.checked = picked.has(box.closest(".route").dataset.id);
    bar.hidden = picked.size === 0;
    document.getElementById("picked-count").textContent = board.words.picked.replace("%s", picked.size);
  }
  board.changed.push(showPicked);
  document.addEventListener("change", (event) => {
    if (!event.target.matches(".pick")) return;
    const { id } = event.target.closest(".route").dataset;
    if (event.target.checked) picked.add(id);
    else picked.delete(id);
    showPicked();
  });
  document.getElementById("pick-all").addEventListener("click", () => {
    for (const route of board.shown()) if (route.status === "AVAILABLE" && picked.size < Number(board.words.mostCards)) picked.add(route.id);
    showPicked();
  });
  document.getElementById("pick-none").addEventListener("click", () => { picked.clear(); showPicked(); });
  document.getElementById("assign-picked").addEventListener("click", () => {
    htmx.ajax("GET", `${board.words.assignSeveral}&ids=${[...picked].join(",")}`, { target: dialog, swap: "innerHTML" });
  });
  dialog.addEventListener("submit", (event) => {
    if (event.target.id !== "assign-form") return;
    event.preventDefault();
    for (const select of event.target.querySelectorAll("select")) {
      if (select.value) assign(select.dataset.route, select.value, select.selectedOptions[0].text.split(" · ")[0]);
    }
    picked.clear();
    showPicked();
    dialog.close();
  });
})();

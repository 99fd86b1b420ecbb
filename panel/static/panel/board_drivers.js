// The drivers of the dispatch board, and assigning by dragging a card onto one of them, in their list or on the map.
"use strict";

{
  const root = document.getElementById("board");
  const list = document.getElementById("on-duty-list");
  const search = document.getElementById("find-driver");
  const AGAIN = 15_000; // milliseconds

  // --- The drivers

  const toggle = document.getElementById("show-drivers");
  let reading = null;
  const isOpen = () => root.dataset.drivers === "open" || root.dataset.shown === "drivers";
  function readDrivers() {
    clearTimeout(reading);
    if (!isOpen()) return;
    reading = setTimeout(readDrivers, AGAIN);
    if (!document.hidden) htmx.ajax("GET", `${board.words.onDuty}&q=${encodeURIComponent(search.value.trim())}`, { target: list, swap: "innerHTML" });
  }
  function showDrivers(open) {
    root.dataset.drivers = open ? "open" : "";
    toggle.setAttribute("aria-pressed", String(open));
    readDrivers();
  }
  board.toggleDrivers = (button) => (button === toggle ? showDrivers(!isOpen()) : readDrivers());
  let typing;
  search.addEventListener("input", () => { clearTimeout(typing); typing = setTimeout(readDrivers, 250); });
  list.addEventListener("click", (event) => {
    const { finds } = event.target.closest("[data-finds]")?.dataset ?? {};
    if (!finds) return;
    const { route } = event.target.closest(".duty").dataset;
    if (route && board.chosen !== route) board.choose(route, { scroll: true, fit: true });
    else if (!route) board.showDriver(finds);
  });

  // --- Dragging

  let opened = false; // for this drag
  const target = (event) => board.dragged && event.target.closest?.("[data-driver]");
  board.drag = () => {
    opened = !isOpen();
    if (opened) showDrivers(true);
    root.classList.add("dragging");
  };
  document.addEventListener("dragend", () => {
    if (opened) showDrivers(false);
    opened = false;
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
    const { id, status, vehicle: needed } = board.dragged;
    if (vehicle !== needed) return board.sayError(board.words.otherVehicle.replace("%s", () => name));
    board.assign(id, driver, name, status === "AVAILABLE" ? "accept" : "reassign");
  });
}

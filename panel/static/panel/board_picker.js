// The position of a driver, from a click on the map of the dispatch board or typed.
"use strict";

{
  const picker = document.getElementById("picker");
  let stop = null;
  function stopPicking() {
    if (!stop) return;
    stop();
    stop = null;
    picker.hidden = true;
    board.view(picker.dataset.before);
  }
  board.pickPosition = (button) => {
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
  };
  picker.addEventListener("submit", (event) => {
    event.preventDefault();
    const { address, route } = picker.dataset;
    const position = picker.elements.position.value;
    stopPicking();
    board.perform(address, { position }, route);
    document.getElementById(`position-${route}`)?.focus({ preventScroll: true });
  });
  document.getElementById("stop-picking").addEventListener("click", stopPicking);
  picker.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); stopPicking(); } });
}

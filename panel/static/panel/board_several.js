// Assigning several routes of the dispatch board at once.
"use strict";

{
  const bar = document.getElementById("picked");
  const dialog = document.getElementById("move");
  // Ids of routes; of those too that were ticked while this was loaded.
  const picked = new Set([...document.querySelectorAll(".pick:checked")].map((box) => box.closest(".route").dataset.id));

  function showPicked() {
    for (const id of picked) if (board.routes.get(id)?.status !== "AVAILABLE") picked.delete(id);
    for (const box of document.querySelectorAll(".pick")) box.checked = picked.has(box.closest(".route").dataset.id);
    bar.hidden = picked.size === 0;
    document.getElementById("picked-count").textContent = board.words.picked.replace("%s", picked.size);
  }
  board.changed.push(showPicked);
  board.pick = (box) => {
    const { id } = box.closest(".route").dataset;
    if (box.checked) picked.add(id);
    else picked.delete(id);
    showPicked();
  };
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
      if (select.value) board.assign(select.dataset.route, select.value, select.selectedOptions[0].text.split(" · ")[0]);
    }
    picked.clear();
    showPicked();
    dialog.close();
  });
}

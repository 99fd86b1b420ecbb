// Values of a chart (templates/panel/chart.html): with the mouse, a finger, or the arrow keys of its range field.
"use strict";

function showValue(chart, number) {
  const columns = chart.querySelectorAll("g");
  const text = columns[number]?.dataset.text || "";
  columns.forEach((column, each) => column.classList.toggle("chosen", each === number));
  chart.querySelector("output").textContent = text;
  chart.querySelector("input").setAttribute("aria-valuetext", text);
}

// Charts may come later, with a fragment of the page.
function prepareCharts() {
  for (const input of document.querySelectorAll(".bar-chart input[hidden]")) {
    input.hidden = false;
    input.setAttribute("aria-valuetext", [...input.closest(".bar-chart").querySelectorAll("g")].at(-1)?.dataset.text || "");
  }
}

document.addEventListener("input", ({ target }) => {
  if (target.matches(".bar-chart input")) showValue(target.closest(".bar-chart"), Number(target.value));
});
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".bar-chart input")) showValue(target.closest(".bar-chart"), Number(target.value));
});
for (const kind of ["pointermove", "pointerdown"]) {
  document.addEventListener(kind, ({ target, clientX }) => {
    const field = target.closest(".chart-field");
    if (!field) return;
    const { left, width } = field.getBoundingClientRect();
    const input = field.querySelector("input");
    const count = Number(input.max) + 1;
    input.value = Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
    showValue(field.closest(".bar-chart"), Number(input.value));
  });
}
document.addEventListener("DOMContentLoaded", prepareCharts);
document.addEventListener("htmx:afterSettle", prepareCharts);

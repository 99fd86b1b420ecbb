// Values of a chart (templates/panel/chart.html): with the mouse, a finger, or the arrow keys of its range field.
"use strict";

function showValue(chart, number) {
  hideValues(chart);
  const columns = chart.querySelectorAll("g");
  const text = columns[number]?.dataset.text || "";
  columns.forEach((column, each) => column.classList.toggle("chosen", each === number));
  const output = chart.querySelector("output");
  output.textContent = text.replaceAll(" · ", "\n");
  output.classList.toggle("on-the-left", number >= columns.length / 2);
  chart.querySelector("input").setAttribute("aria-valuetext", text);
}

// Those of all charts but one.
function hideValues(but) {
  for (const output of document.querySelectorAll(".bar-chart output:not(:empty)")) {
    const chart = output.closest(".bar-chart");
    if (chart === but) continue;
    output.textContent = "";
    chart.querySelector("g.chosen")?.classList.remove("chosen");
  }
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
document.addEventListener("focusout", ({ target }) => {
  if (target.matches(".bar-chart input")) hideValues();
});
for (const kind of ["pointermove", "pointerdown"]) {
  document.addEventListener(kind, ({ target, clientX }) => {
    const field = target.closest(".chart-field");
    if (!field) return hideValues(document.activeElement?.closest(".bar-chart"));
    const { left, width } = field.getBoundingClientRect();
    const input = field.querySelector("input");
    const count = Number(input.max) + 1;
    input.value = Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
    showValue(field.closest(".bar-chart"), Number(input.value));
  });
}
document.addEventListener("DOMContentLoaded", prepareCharts);
document.addEventListener("htmx:afterSettle", prepareCharts);

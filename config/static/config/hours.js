// Hours of service in the admin: copy the first day to the others, and say which spans end on the next day.
"use strict";

{
  const days = [...document.querySelectorAll("[data-day]")].filter((day) => !day.closest(".rota-day-off"));
  const button = document.querySelector("[data-copies-day]");

  // The fields of `from` with their values, for the day `to`.
  function copy(from, to) {
    const named = (text) => text.replace(from.dataset.day, to.dataset.day);
    const spans = from.querySelector(".rota-spans").cloneNode(true);
    for (const field of spans.querySelectorAll("input")) Object.assign(field, { name: named(field.name), id: named(field.id) });
    for (const label of spans.querySelectorAll("label")) label.htmlFor = named(label.htmlFor);
    to.querySelector(".rota-spans").replaceWith(spans);
    to.querySelector("select").value = from.querySelector("select").value;
  }

  if (button && days.length) {
    days[0].append(button.content.firstElementChild);
    days[0].querySelector("[data-copies]").addEventListener("click", () => days.slice(1).forEach((day) => copy(days[0], day)));
  }

  document.addEventListener("input", ({ target }) => {
    const span = target.closest(".rota-span");
    if (!span) return;
    const [opens, closes] = [...span.querySelectorAll("input")].map((field) => field.value);
    span.querySelector("[data-next-day]").hidden = !opens || !closes || closes > opens || closes === "00:00";
  });
}

// Copying, forms that are sent once. Without scripts all pages but the board work, without copying.
"use strict";

document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const source = document.getElementById(copy.dataset.copy);
    const done = () => {
      const before = copy.textContent;
      copy.textContent = copy.dataset.done;
      setTimeout(() => { copy.textContent = before; }, 1500);
    };
    // Browsers allow the clipboard on https and localhost only; elsewhere the text is selected for Ctrl-C.
    if (navigator.clipboard) navigator.clipboard.writeText(source.textContent).then(done);
    else getSelection().selectAllChildren(source);
  }
  if (event.target.closest("[data-print]")) print();
});

// Prevents that a form which changes something is sent twice.
document.addEventListener("submit", (event) => {
  const { target, submitter } = event;
  if (target.hasAttribute("hx-post") || target.method !== "post") return;
  if ((submitter?.formTarget || target.target) === "_blank") return; // the page stays, and changes nothing
  if (target.dataset.sent) event.preventDefault();
  target.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// A form that goes on by itself says that it was refused or not answered, and is sent again after Retry-After.
{
  const LATER = 5; // seconds
  const again = ({ detail: { elt, xhr } }) => {
    if (!elt.matches("form[data-again]") || ![0, 429, 502, 503, 504].includes(xhr.status)) return;
    elt.querySelector("[data-why]").textContent = elt.dataset.again;
    setTimeout(() => htmx.trigger(elt, "again"), 1_000 * (Number(xhr.getResponseHeader("Retry-After")) || LATER));
  };
  for (const name of ["responseError", "sendError", "timeout"]) document.addEventListener(`htmx:${name}`, again);
}

// The page in another language begins at the same heading.
document.addEventListener("submit", (event) => {
  if (event.target.matches("form.languages")) event.target.elements.next.value += location.hash;
});

// A checkbox that ticks all others of a name.
document.addEventListener("change", (event) => {
  const { selects } = event.target.dataset;
  if (!selects) return;
  for (const box of document.querySelectorAll(`input[type=checkbox][name="${selects}"]`)) box.checked = event.target.checked;
});

// How many are ticked of a name.
function count() {
  for (const note of document.querySelectorAll("[data-counts]")) {
    const ticks = document.querySelectorAll(`input[type=checkbox][name="${note.dataset.counts}"]:checked`).length;
    note.textContent = ticks === 1 ? note.dataset.one : note.dataset.many.replace("#", ticks);
  }
}
document.addEventListener("change", count);
document.addEventListener("htmx:afterSwap", count); // of a list whose filters were changed
window.addEventListener("pageshow", count); // back from another page, with what was ticked

// What is ticked, unfolded and scrolled sideways stays so when live.js replaces a part of the page.
const ticked = new Set();
const unfolded = new Set();
const scrolled = new Map(); // by the id of the part
document.addEventListener("change", (event) => {
  for (const box of document.querySelectorAll("input[type=checkbox][form]")) {
    if (box.checked) ticked.add(box.value);
    else ticked.delete(box.value);
  }
});
document.addEventListener("toggle", ({ target }) => {
  if (!target.matches("details[id]")) return;
  if (target.open) unfolded.add(target.id);
  else unfolded.delete(target.id);
}, true); // it does not bubble
document.addEventListener("htmx:oobBeforeSwap", ({ detail: { target } }) => {
  scrolled.set(target.id, target.querySelector(".scroll")?.scrollLeft || 0);
});
document.addEventListener("htmx:oobAfterSwap", () => {
  for (const [id, left] of scrolled) document.getElementById(id)?.querySelector(".scroll")?.scrollTo({ left });
  scrolled.clear();
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
  for (const box of document.querySelectorAll("input[type=checkbox][form]")) box.checked = ticked.has(box.value);
  count();
});

// Filters apply when an option is chosen, and shortly after the last letter. Empty ones are not in the address.
{
  let typing;
  const apply = ({ target }, delay) => {
    if (!target.matches("form.filters :is(select, input)[name]") || target.value === "range") return;
    clearTimeout(typing);
    typing = setTimeout(() => target.form.requestSubmit(), delay);
  };
  document.addEventListener("change", (event) => apply(event, 0));
  document.addEventListener("input", (event) => { if (event.target.matches("[type=search], [type=text]")) apply(event, 400); });
  document.addEventListener("htmx:configRequest", ({ target, detail }) => {
    if (!target.matches("form.filters")) return;
    for (const [name, value] of [...detail.formData]) if (!value) detail.formData.delete(name);
  });
}

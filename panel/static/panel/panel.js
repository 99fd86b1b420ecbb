// Copying, dialogs, the menu on phones, forms that are sent once. Without scripts all pages but the board work, without copying.
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
  const unfold = event.target.closest(".unfold");
  if (unfold) {
    const open = unfold.closest(".side").classList.toggle("open");
    unfold.setAttribute("aria-expanded", String(open));
  }
  const opens = event.target.closest("[data-opens]");
  if (opens) document.getElementById(opens.dataset.opens).showModal();
  if (event.target.closest("[data-closes]")) event.target.closest("dialog").close();
});

// Prevents that a form which changes something is sent twice.
document.addEventListener("submit", (event) => {
  if (event.target.hasAttribute("hx-post") || event.target.method !== "post") return;
  if (event.target.dataset.sent) event.preventDefault();
  event.target.dataset.sent = "yes";
});
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
});

// The page in another language begins at the same heading.
document.addEventListener("submit", (event) => {
  if (event.target.matches("form.languages")) event.target.elements.next.value += location.hash;
});

// Filters apply when an option is chosen; the button is for browsers without scripts.
document.addEventListener("change", (event) => {
  if (event.target.matches("form.filters select")) event.target.form.requestSubmit();
});

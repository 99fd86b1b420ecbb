// Small helps; every page works without them but for copying.
"use strict";

document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const text = document.getElementById(copy.dataset.copy).textContent;
    navigator.clipboard.writeText(text).then(() => {
      const before = copy.textContent;
      copy.textContent = copy.dataset.done;
      setTimeout(() => { copy.textContent = before; }, 1500);
    });
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

// A form that does something for good is sent once.
document.addEventListener("submit", (event) => {
  if (event.target.hasAttribute("hx-post")) return;
  for (const button of event.target.querySelectorAll("button[type=submit]")) {
    setTimeout(() => { button.disabled = true; }, 0);
  }
});
window.addEventListener("pageshow", () => {
  for (const button of document.querySelectorAll("button[type=submit]:disabled")) button.disabled = false;
});

// Filters apply when chosen; the button is there for those without a script.
document.addEventListener("change", (event) => {
  if (event.target.matches("form.filters select")) event.target.form.requestSubmit();
});

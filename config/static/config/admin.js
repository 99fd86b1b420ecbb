// The autocomplete widgets of the admin (select2) have no accessible name. Copy the label of the form field to each one.
"use strict";

function labelAutocomplete(shown) {
  const select = shown.previousElementSibling;
  const name = select?.getAttribute("aria-label") || select?.labels?.[0]?.textContent.trim() || select?.name;
  for (const part of name ? shown.querySelectorAll("[role=combobox], [role=textbox], [role=searchbox]") : []) {
    part.removeAttribute("aria-labelledby");
    part.setAttribute("aria-label", name);
  }
}

new MutationObserver((changes) => {
  for (const added of changes.flatMap((change) => [...change.addedNodes])) {
    if (!(added instanceof Element)) continue;
    if (added.matches(".select2-container")) labelAutocomplete(added);
    // The fields that belong to a map in a row of an inline, see pin.js.
    if (added.matches(".form-group")) added.dataset.pinFields = "";
    // Django's FilteredSelectMultiple gives its help icon an accessible name, which is valid only with a role.
    for (const icon of [added, ...added.querySelectorAll(".help-tooltip")]) {
      if (icon.matches(".help-tooltip")) icon.setAttribute("role", "img");
    }
  }
}).observe(document, { childList: true, subtree: true });

// The buttons beside ids. Browsers allow the clipboard on https and localhost only; elsewhere the text is selected.
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-copy]");
  if (!button) return;
  if (!navigator.clipboard) {
    getSelection().selectAllChildren(button.previousElementSibling);
    return;
  }
  navigator.clipboard.writeText(button.dataset.copy).then(() => {
    button.classList.add("is-copied");
    setTimeout(() => button.classList.remove("is-copied"), 1500);
  });
});

// Unfold's key for the dark sets a class; the panel's colours follow it.
new MutationObserver(() => {
  const { classList, dataset } = document.documentElement;
  dataset.theme = classList.contains("dark") ? "dark" : "light";
}).observe(document.documentElement, { attributeFilter: ["class"] });

// simplebar gives all its scroll containers the same aria-label: number them, because landmarks need unique names.
// On phones a list shows the heading of each column above its value, as the model names it: begin it with a capital.
// An empty header of a column of delete checkboxes or buttons gets a text for screen readers, which find the page's own
// part too. What Unfold opens by a click on something that is no button is reached by the keyboard.
addEventListener("load", () => {
  document.getElementById("main")?.setAttribute("role", "main");
  document.querySelectorAll(".simplebar-content-wrapper").forEach((container, index) => {
    container.setAttribute("aria-label", `${container.getAttribute("aria-label")} ${index + 1}`);
  });
  for (const cell of document.querySelectorAll("[data-label]")) {
    cell.dataset.label = cell.dataset.label.charAt(0).toUpperCase() + cell.dataset.label.slice(1);
  }
  for (const header of document.querySelectorAll("th")) {
    if (header.textContent.trim() || header.querySelector("input")) continue;
    const words = document.createElement("span");
    words.className = "sr-only";
    words.textContent = "×";
    header.append(words);
  }
  for (const opener of document.querySelectorAll("[x-on\\:click]:not([href], button, input, label)")) {
    opener.tabIndex = 0;
    opener.setAttribute("role", "button");
    opener.addEventListener("keydown", (event) => {
      if (event.target !== opener || !["Enter", " "].includes(event.key)) return;
      event.preventDefault();
      opener.click();
    });
  }
});

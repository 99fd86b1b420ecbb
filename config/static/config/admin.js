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
    // Django's FilteredSelectMultiple gives its help icon an accessible name, which is valid only with a role.
    for (const icon of [added, ...added.querySelectorAll(".help-tooltip")]) {
      if (icon.matches(".help-tooltip")) icon.setAttribute("role", "img");
    }
  }
}).observe(document, { childList: true, subtree: true });

// simplebar gives all its scroll containers the same aria-label: number them, because landmarks need unique names.
// An empty header of a column of delete checkboxes or buttons gets a text for screen readers.
addEventListener("load", () => {
  document.querySelectorAll(".simplebar-content-wrapper").forEach((container, index) => {
    container.setAttribute("aria-label", `${container.getAttribute("aria-label")} ${index + 1}`);
  });
  for (const header of document.querySelectorAll("th")) {
    if (header.textContent.trim() || header.querySelector("input")) continue;
    const words = document.createElement("span");
    words.className = "sr-only";
    words.textContent = "×";
    header.append(words);
  }
});

// The look-ups of the admin (select2) have no names: give them those of the fields they stand for, whenever one appears.
"use strict";

function nameLookUp(shown) {
  const select = shown.previousElementSibling;
  const name = select?.getAttribute("aria-label") || select?.labels?.[0]?.textContent.trim() || select?.name;
  for (const part of name ? shown.querySelectorAll("[role=combobox], [role=textbox], [role=searchbox]") : []) {
    part.removeAttribute("aria-labelledby");
    part.setAttribute("aria-label", name);
  }
}

new MutationObserver((changes) => {
  for (const added of changes.flatMap((change) => [...change.addedNodes])) {
    if (added instanceof Element && added.matches(".select2-container")) {
      nameLookUp(added);
    }
  }
}).observe(document, { childList: true, subtree: true });

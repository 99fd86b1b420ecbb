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
    if (!(added instanceof Element)) continue;
    if (added.matches(".select2-container")) nameLookUp(added);
    // Django's chooser of groups hangs words on a sign that has no role to bear them.
    for (const sign of [added, ...added.querySelectorAll(".help-tooltip")]) {
      if (sign.matches(".help-tooltip")) sign.setAttribute("role", "img");
    }
  }
}).observe(document, { childList: true, subtree: true });

// Each frame that scrolls is a landmark with the package's one name: tell them apart. A head of a column that holds
// nothing but boxes or bins gets what its cells say.
addEventListener("load", () => {
  document.querySelectorAll(".simplebar-content-wrapper").forEach((frame, number) => {
    frame.setAttribute("aria-label", `${frame.getAttribute("aria-label")} ${number + 1}`);
  });
  for (const head of document.querySelectorAll("th")) {
    if (head.textContent.trim() || head.querySelector("input")) continue;
    const words = document.createElement("span");
    words.className = "sr-only";
    words.textContent = "×";
    head.append(words);
  }
});

// The menu on phones, dialogs, and keys of every page: Ctrl-K and "/" search, "j" and "k" move over rows, Enter opens, "?" lists them. None while typing.
// In the admin too.
"use strict";

{
  const dialog = document.getElementById("search-dialog");
  const keys = document.getElementById("keys-dialog");
  // Rows of lists, cards of the board, results of a search, and what is focused in each.
  const ROWS = "[data-row], table.opens tr:has(a.opens), table.cards tr:has(td.title a[href]), #result_list .data-row";
  const TARGET = ".choose, a[href], button";
  const TYPING = "input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable]";

  const shown = (element) => element.checkVisibility({ visibilityProperty: true });

  function openSearch() {
    if (!dialog || dialog.open) return;
    document.querySelector("dialog[open]")?.close();
    dialog.showModal();
    const field = dialog.querySelector("input");
    field.select();
    htmx.trigger(field, "opened");
  }

  // The search of the page, such as that of a list or of the board; else the one over everything.
  function focusSearch() {
    const own = [...document.querySelectorAll("main input[type=search], #searchbar")].find(shown);
    if (own) own.focus();
    else openSearch();
  }

  const targetOf = (row) => (row.matches(TARGET) ? row : row.querySelector(TARGET));

  function move(step, within) {
    const rows = [...within.querySelectorAll(ROWS)].filter((row) => shown(row) && targetOf(row));
    if (!rows.length) return;
    const here = rows.findIndex((row) => row.contains(document.activeElement));
    const next = rows[here < 0 ? (step > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, here + step))];
    targetOf(next).focus();
    next.scrollIntoView({ block: "nearest" });
  }

  document.addEventListener("keydown", (event) => {
    const { key, target } = event;
    if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && key.toLowerCase() === "k") {
      if (!dialog) return;
      event.preventDefault();
      openSearch();
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (dialog?.open && (key === "ArrowDown" || key === "ArrowUp")) {
      event.preventDefault();
      const first = dialog.querySelector(ROWS);
      if (key === "ArrowUp" && document.activeElement === first) dialog.querySelector("input").focus();
      else move(key === "ArrowDown" ? 1 : -1, dialog);
      return;
    }
    // Enter in the field opens the first result, as soon as it is that of the text.
    if (dialog?.open && key === "Enter" && target.matches("#search-dialog input")) {
      const first = dialog.querySelector("#search-found a");
      if (first && !dialog.querySelector(".htmx-request")) {
        event.preventDefault();
        first.click();
      }
      return;
    }
    if (target.matches(TYPING) || document.querySelector("dialog[open]")) return;
    const act = {
      "/": focusSearch,
      "?": () => keys?.showModal(),
      j: () => move(1, document.querySelector("main") || document),
      k: () => move(-1, document.querySelector("main") || document),
    }[key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  for (const kind of ["keydown", "keyup"]) {
    document.addEventListener(kind, (event) => {
      const hint = event.target.form?.querySelector("[data-caps-lock]");
      if (hint && event.getModifierState) hint.hidden = event.target.type !== "password" || !event.getModifierState("CapsLock");
    });
  }

  document.addEventListener("click", (event) => {
    const unfold = event.target.closest(".unfold");
    if (unfold) {
      const open = unfold.closest(".side").classList.toggle("open");
      unfold.setAttribute("aria-expanded", String(open));
    }
    const opens = event.target.closest("[data-opens]");
    if (opens) document.getElementById(opens.dataset.opens).showModal();
    if (event.target.closest("[data-closes]")) event.target.closest("dialog").close();
    const link = event.target.closest("[data-opens-search]");
    if (link && dialog && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      openSearch();
    }
    if (event.target === dialog || event.target === keys) event.target.close(); // beside it
  });
}

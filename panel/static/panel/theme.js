// Sets the colours before the page is drawn, so it is not deferred. The admin's theme reads the choice too, and stores it so.
"use strict";

{
  const KEY = "adminTheme";
  const CHOICES = ["auto", "light", "dark"];
  const system = matchMedia("(prefers-color-scheme: dark)");

  function choice() {
    try {
      const stored = JSON.parse(localStorage.getItem(KEY));
      return CHOICES.includes(stored) ? stored : "auto";
    } catch {
      return "auto"; // not stored as JSON, or the browser keeps nothing
    }
  }

  function show() {
    const chosen = choice();
    const theme = chosen === "auto" ? (system.matches ? "dark" : "light") : chosen;
    document.documentElement.dataset.theme = theme;
    document.documentElement.classList.toggle("dark", theme === "dark"); // what the admin's styles ask for
    for (const group of document.querySelectorAll(".themes")) {
      group.hidden = false;
      for (const button of group.children) button.setAttribute("aria-pressed", String(button.value === chosen));
    }
  }

  show();
  system.addEventListener("change", show);
  addEventListener("storage", show); // chosen in another tab
  document.addEventListener("DOMContentLoaded", show);
  document.addEventListener("click", ({ target }) => {
    const button = target.closest(".themes button");
    if (!button) return;
    try {
      localStorage.setItem(KEY, JSON.stringify(button.value));
    } catch {
      return;
    }
    show();
  });
}

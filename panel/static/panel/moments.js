// Says in words what a field for a moment holds: browsers show it in the notation of their own language, not of the page's.
"use strict";

{
  const words = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "long", timeStyle: "short" });

  function say(field) {
    let output = field.nextElementSibling;
    if (!output?.matches("output")) {
      output = document.createElement("output");
      output.className = "soft small";
      field.after(output);
    }
    output.textContent = field.value ? words.format(new Date(field.value)) : "";
  }

  const sayAll = (root) => root.querySelectorAll("input[type=datetime-local]").forEach(say);
  document.addEventListener("input", ({ target }) => { if (target.matches("input[type=datetime-local]")) say(target); });
  document.addEventListener("htmx:load", ({ target }) => sayAll(target));
  sayAll(document);
}

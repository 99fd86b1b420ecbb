// Errors of a form whose price is asked for while it is filled in: one goes when the server does not refuse its field any more.
"use strict";

{
  const form = document.querySelector(".request");
  document.body.addEventListener("htmx:afterSettle", () => {
    const text = document.getElementById("faulty")?.textContent;
    if (!text) return;
    const faulty = new Set(JSON.parse(text));
    for (const field of form.querySelectorAll("[aria-invalid=true]")) {
      if (faulty.has(field.id)) continue;
      document.getElementById(`${field.id}_error`)?.remove();
      field.removeAttribute("aria-invalid");
      const described = (field.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => document.getElementById(id));
      if (described.length) field.setAttribute("aria-describedby", described.join(" "));
      else field.removeAttribute("aria-describedby");
    }
    if (!faulty.size) document.querySelector("[data-errors]")?.remove();
  });
  form?.querySelector("[aria-invalid=true]")?.focus();
}

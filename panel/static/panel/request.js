// The form that requests a delivery: a registered pickup point brings its coordinates, so that the map shows A, and the contact and
// the address that were used there last; a recent receiver brings contact, address and place. A folded part says what is filled in.
"use strict";

{
  const form = document.querySelector(".request");
  const choice = document.getElementById("id_a-point");
  const position = document.getElementById("id_a-position");
  const pickups = JSON.parse(document.getElementById("pickup-points").textContent);

  function sum(part) {
    const fields = [...part.querySelectorAll("input, textarea, select")].filter((field) => !field.closest("[hidden]"));
    part.querySelector("summary span").textContent = fields.map(said).filter(Boolean).join(" · ");
  }
  // What is filled in: the label of a checkbox, the text of an option that is not the first.
  function said(field) {
    if (field.type === "checkbox") return field.checked ? field.labels[0].textContent.trim() : "";
    if (field.tagName === "SELECT") return field.selectedIndex > 0 ? field.selectedOptions[0].text.trim() : "";
    return field.value.trim();
  }
  const sums = [...form.querySelectorAll("[data-sums]")];
  const sumAll = () => sums.forEach(sum);

  const show = () => {
    const known = pickups[choice.value];
    if (known) position.value = known.position;
    else if (position.readOnly) position.value = "";
    position.readOnly = Boolean(known);
    position.closest(".of-place").hidden = Boolean(known);
    position.dispatchEvent(new Event("input", { bubbles: true }));
  };
  let brought = pickups[choice.value] ?? {};
  choice.addEventListener("change", () => {
    for (const [name, text] of Object.entries(pickups[choice.value] ?? {})) {
      const field = document.getElementById(`id_a-${name}`);
      // What was typed stays.
      if (!field.value || field.value === brought[name]) field.value = text;
    }
    brought = pickups[choice.value] ?? brought;
    show();
    const contact = position.closest("details");
    contact.open ||= !document.getElementById("id_a-name").value || !choice.value;
    sumAll();
  });
  const receivers = JSON.parse(document.getElementById("receivers").textContent);
  for (const field of form.querySelectorAll("[data-fills]")) {
    field.closest(".field").hidden = false;
    field.addEventListener("input", (event) => {
      event.stopPropagation(); // nothing is priced for what is looked for
      const found = Object.entries(receivers[field.value] ?? {});
      if (!found.length) return;
      for (const [name, text] of found) document.getElementById(field.dataset.fills + name).value = text;
      document.getElementById(`${field.dataset.fills}position`).dispatchEvent(new Event("input", { bubbles: true }));
      document.getElementById(`${field.dataset.fills}position`).dispatchEvent(new Event("change", { bubbles: true }));
    });
    field.addEventListener("change", (event) => event.stopPropagation());
  }

  // What the server has read in a CEP or a link. What somebody has typed stays, but for the link.
  document.body.addEventListener("htmx:afterSettle", () => {
    const derived = document.getElementById("derived");
    for (const [id, text] of Object.entries(derived ? JSON.parse(derived.textContent) : {})) {
      const field = document.getElementById(id);
      const isLink = field.value.includes(":");
      if (field.readOnly || (!isLink && field.value && field.value !== field.defaultValue)) continue;
      field.value = field.defaultValue = text;
      if (isLink) field.dispatchEvent(new Event("input", { bubbles: true }));
    }
    sumAll();
  });
  form.addEventListener("input", sumAll);
  form.addEventListener("change", sumAll);
  show();
  sumAll();
  form.querySelector("[aria-invalid=true]")?.focus();
}

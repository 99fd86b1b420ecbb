// The form that requests a delivery: a registered pickup point brings its coordinates, so that the map shows A, and the contact and
// the address that were used there last. A folded part says what is filled in.
"use strict";

{
  const form = document.querySelector(".request");
  const choice = document.getElementById("id_a-point");
  const position = document.getElementById("id_a-position");
  const pickups = JSON.parse(document.getElementById("pickup-points").textContent);

  function sum(part) {
    const used = [...part.querySelectorAll("input, textarea")].filter((field) => (field.type === "checkbox" ? field.checked : field.value.trim()) && !field.closest("[hidden]"));
    const texts = used.map((field) => (field.type === "checkbox" ? field.labels[0].textContent.trim() : field.value.trim()));
    part.querySelector("summary span").textContent = texts.join(" · ");
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
  choice.addEventListener("change", () => {
    for (const [name, text] of Object.entries(pickups[choice.value] ?? {})) document.getElementById(`id_a-${name}`).value = text;
    show();
    const contact = position.closest("details");
    contact.open ||= !document.getElementById("id_a-name").value || !choice.value;
    sumAll();
  });
  form.addEventListener("input", sumAll);
  form.addEventListener("change", sumAll);
  show();
  sumAll();
  form.querySelector("[aria-invalid=true]")?.focus();
}

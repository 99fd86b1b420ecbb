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
  // What nobody typed: what a field came with, or what was brought into it.
  const texts = new Map();
  const given = (field) => texts.get(field) ?? field.defaultValue;
  const bring = (id, text) => {
    const field = document.getElementById(id);
    field.value = text;
    texts.set(field, text);
  };
  let brought = pickups[choice.value] ?? {};
  // Of another place nothing is known but who hands the goods over.
  const elsewhere = ({ name, phone, ...address }) => Object.fromEntries(Object.keys(address).map((each) => [each, ""]));
  choice.addEventListener("change", () => {
    for (const [name, text] of Object.entries(pickups[choice.value] ?? elsewhere(brought))) {
      const { value } = document.getElementById(`id_a-${name}`);
      // What was typed stays.
      if (!value || value === brought[name]) bring(`id_a-${name}`, text);
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
      for (const [name, text] of found) bring(field.dataset.fills + name, text);
      document.getElementById(`${field.dataset.fills}position`).dispatchEvent(new Event("input", { bubbles: true }));
      document.getElementById(`${field.dataset.fills}position`).dispatchEvent(new Event("change", { bubbles: true }));
    });
    field.addEventListener("change", (event) => event.stopPropagation());
  }

  // What the server has read in a CEP or a link, once and only while it still stands there. A CEP that came with its city says nothing
  // new of it. What somebody has typed stays, but for the link.
  document.body.addEventListener("htmx:afterSettle", () => {
    for (const { id, text, fields } of JSON.parse(document.getElementById("derived")?.textContent ?? "[]")) {
      const source = document.getElementById(id);
      const isLink = id in fields;
      if (source.readOnly || source.value !== text || (!isLink && text === given(source))) continue;
      texts.set(source, text);
      for (const [other, found] of Object.entries(fields)) {
        const field = document.getElementById(other);
        if (isLink || !field.value || field.value === given(field)) bring(other, found);
      }
      if (isLink) source.dispatchEvent(new Event("input", { bubbles: true }));
    }
    sumAll();
  });
  // A place on the map gives way to that of the address.
  form.addEventListener("click", ({ target }) => {
    const field = document.getElementById(target.dataset.clears);
    if (!field) return;
    field.value = "";
    for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
  });
  form.addEventListener("input", sumAll);
  form.addEventListener("change", sumAll);
  show();
  sumAll();
}

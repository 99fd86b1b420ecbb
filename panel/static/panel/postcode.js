// A CEP that is typed fills in street, district, city and state. What somebody has typed there stays. Where its street is not known,
// a sentence below the CEP says so.
"use strict";

{
  const brought = new Map(); // texts that were filled in, by field
  const sentences = new Map(); // by the field of a CEP

  function say(field, text) {
    if (!sentences.has(field)) {
      const sentence = document.createElement("output"); // which screen readers read out
      sentence.className = "help";
      field.after(sentence);
      sentences.set(field, sentence);
    }
    sentences.get(field).textContent = text;
  }

  document.addEventListener("input", async ({ target: field }) => {
    const { postcode: address, unknown } = field.dataset;
    const digits = field.value.replace(/\D/g, "");
    if (!address || field.asked === digits) return;
    field.asked = digits;
    say(field, "");
    if (digits.length !== 8) return;
    const answer = await fetch(`${address}?zipcode=${digits}`, { redirect: "error" }).catch(() => null);
    if (!answer?.ok) return;
    const known = await answer.json();
    if (field.asked !== digits) return;
    for (const [name, text] of Object.entries(known)) {
      const other = document.getElementById(field.id.replace("zipcode", name));
      if (other.value && other.value !== brought.get(other)) continue;
      brought.set(other, text);
      other.value = text;
      other.dispatchEvent(new Event("change", { bubbles: true }));
    }
    if (!document.getElementById(field.id.replace("zipcode", "street")).value) say(field, unknown);
  });
}

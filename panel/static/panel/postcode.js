// A CEP that is typed fills in street, district, city and state. What somebody has typed there stays.
"use strict";

{
  const brought = new Map(); // texts that were filled in, by field

  document.addEventListener("input", async ({ target: field }) => {
    const { postcode: address } = field.dataset;
    const digits = field.value.replace(/\D/g, "");
    if (!address || digits.length !== 8 || field.asked === digits) return;
    field.asked = digits;
    const answer = await fetch(`${address}?zipcode=${digits}`, { redirect: "error" }).catch(() => null);
    if (!answer?.ok || field.asked !== digits || field.value.replace(/\D/g, "") !== digits) return;
    for (const [name, text] of Object.entries(await answer.json())) {
      const other = document.getElementById(field.id.replace("zipcode", name));
      if (other.value && other.value !== brought.get(other)) continue;
      brought.set(other, text);
      other.value = text;
      other.dispatchEvent(new Event("change", { bubbles: true }));
    }
  });
}

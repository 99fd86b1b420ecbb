// The form that requests a delivery: a registered pickup point brings its coordinates, so that the map shows A.
"use strict";

{
  const choice = document.getElementById("id_a-point");
  const position = document.getElementById("id_a-position");
  const points = JSON.parse(document.getElementById("pickup-points").textContent);
  const show = () => {
    const known = points[choice.value];
    if (known) position.value = known;
    else if (position.readOnly) position.value = "";
    position.readOnly = Boolean(known);
    position.closest(".of-place").hidden = Boolean(known);
    position.dispatchEvent(new Event("input", { bubbles: true }));
  };
  choice.addEventListener("change", show);
  show();
  document.querySelector(".request [aria-invalid=true]")?.focus();
}

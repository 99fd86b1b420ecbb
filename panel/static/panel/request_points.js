// The map of the form of a request: a click, or a button with `data-lat` and `data-lng`, writes its place
// into the first empty field that is shown, or the one that was used last, or the one that the button names. Where the server has
// found an address, its field stays empty; the pin there can be moved.
"use strict";

{
  const element = document.getElementById("points-map");
  const fields = [...document.querySelectorAll("[data-point]")];
  const mode = document.querySelector("[name=mode]");
  const map = rota.map(element, JSON.parse(document.getElementById("tiles").textContent));
  let layer = null;
  let used = null; // the field that a click changes
  let shown = ""; // the places that the map has been fitted to
  let located = new Map(); // field -> where its address is
  const placeholders = new Map(fields.map((field) => [field, field.placeholder]));

  // The places in the fields, and those of addresses. The server reads links; here only plain coordinates are shown.
  function places() {
    return fields.flatMap((field, index) => {
      const found = field.value.trim() ? null : located.get(field);
      if (found) return [{ lat: found.lat, lng: found.lng, label: "ABCD"[index], status: "" }];
      const [lat, lng, more] = field.value.split(",").map((text) => (text.trim() ? Number(text) : NaN));
      if (more !== undefined || !(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) return [];
      return [{ lat, lng, label: "ABCD"[index], status: "" }];
    });
  }

  // `isMoving`: the map goes where the points are.
  function show(isMoving) {
    const points = places();
    layer?.remove();
    layer = null;
    if (!element.offsetParent) return;
    map.invalidateSize({ animate: false });
    if (!points.length) return;
    const way = { points, returns: mode.value === "RETURN", reverse: mode.value === "REVERSE", driver: null };
    layer = rota.layer(way, true, move).addTo(map);
    rota.orient(map, points[0], points);
    const now = JSON.stringify(points);
    if (isMoving && now !== shown) rota.fit(map, rota.bounds({ points, driver: null }));
    shown = now;
  }

  function write(place, field, isMoving) {
    const shown = fields.filter((each) => each.offsetParent && !each.readOnly);
    const isEmpty = (each) => !each.value.trim();
    const chosen = field ?? [used, ...shown].find((each) => each && isEmpty(each)) ?? used ?? shown.at(-1);
    if (!chosen) return;
    chosen.value = rota.coordinates(place);
    chosen.dispatchEvent(new Event("change", { bubbles: true }));
    show(isMoving);
  }

  // A pin was dragged: of a registered pickup point it goes back.
  function move({ label }, place) {
    const field = fields["ABCD".indexOf(label)];
    if (field.readOnly) show(false);
    else write(place, field, false);
  }

  document.body.addEventListener("htmx:afterSettle", () => {
    if (!document.getElementById("price")) return;
    const pins = JSON.parse(document.getElementById("pins")?.textContent ?? "[]");
    located = new Map(pins.map((pin) => [document.getElementById(pin.id), pin]));
    for (const field of fields) field.placeholder = located.has(field) ? field.dataset.located : placeholders.get(field);
    show(true);
  });
  map.on("click", (event) => write(event.latlng.wrap(), null, false));
  document.addEventListener("click", ({ target }) => {
    const button = target.closest("[data-lat]");
    if (button) write({ lat: Number(button.dataset.lat), lng: Number(button.dataset.lng) }, document.getElementById(button.dataset.field), true);
  });
  for (const field of fields) {
    // Of a form with addresses, any field of the place chooses it.
    (field.closest(".fields") ?? field).addEventListener("focusin", () => { if (!field.readOnly) used = field; });
    field.addEventListener("input", () => show(true));
  }
  mode.addEventListener("change", () => show(false));
  new ResizeObserver(() => show(false)).observe(element.parentElement);
  show(true);
}

// Maps with a pin, and the fields with its coordinates, each of which changes the other.
//
//   <div class="pin-map" data-pin="#id_position" data-label="A" data-radius="150"></div>
//
// `data-pin` is a selector of one field for "latitude, longitude", or of two. It is searched for in the nearest element
// around with `data-pin-fields`, else in the page. `data-label` is written on the pin.
// Without a pin, the map begins near `data-near`, and a map without streets also writes `data-near-name` there; without either, a
// map without streets is hidden. On the map of another point than A, `data-near` is A, which stays in sight until somebody moves
// the map. `data-radius`: metres of a circle around the pin, or a selector of the field with them. A button with `data-lat` and
// `data-lng` sets the pin of the page.
"use strict";

{
  const NEAR = 16; // zoom levels
  const NEAREST = 17;
  const tiles = JSON.parse(document.getElementById("tiles").textContent);

  class Pin {
    constructor(element) {
      const scope = element.closest("[data-pin-fields]") ?? document;
      this.fields = [...scope.querySelectorAll(element.dataset.pin)];
      const { label, radius } = element.dataset;
      const look = (html, className) => ({ icon: L.divIcon({ className, html, iconSize: [26, 26] }), alt: html, keyboard: false });
      this.look = look(label, label === "A" ? "point pickup chosen" : "point chosen");
      this.radius = radius && Number.isNaN(Number(radius)) ? scope.querySelector(radius) : { value: radius };
      this.map = rota.map(element, tiles);
      const [lat, lng] = (element.dataset.near ?? "").split(",").map(Number);
      if (element.dataset.near) {
        this.map.setView([lat, lng], NEAR - 2, { animate: false });
        rota.orient(this.map, { lat, lng }, [{ lat, lng, district: element.dataset.nearName }]);
        if (label !== "A") this.origin = L.marker([lat, lng], { ...look("A", "point pickup"), interactive: false }).addTo(this.map);
      }
      this.isEmpty = this.map.orientation && !element.dataset.near;
      this.map.on("click", (event) => this.write(event.latlng.wrap()));
      for (const field of [...this.fields, this.radius]) field.addEventListener?.("input", () => this.show());
      new ResizeObserver(() => {
        this.map.invalidateSize({ animate: false });
        if (this.marker) this.center(this.marker.getLatLng(), this.map.getZoom());
      }).observe(element);
      this.show();
    }

    // The place in the fields, or null. The server reads links; here only plain coordinates are shown.
    read() {
      const texts = this.fields.length === 1 ? this.fields[0].value.split(",") : this.fields.map((field) => field.value.replace(",", "."));
      if (texts.length !== 2 || texts.some((text) => !text.trim())) return null;
      const [lat, lng] = texts.map(Number);
      return Math.abs(lat) <= 90 && Math.abs(lng) <= 180 ? { lat, lng } : null;
    }

    write(place, zoom) {
      const texts = rota.coordinates(place).split(", ");
      if (this.fields.length === 1) this.fields[0].value = texts.join(", ");
      else this.fields.forEach((field, index) => { field.value = texts[index]; });
      for (const field of this.fields) field.dispatchEvent(new Event("change", { bubbles: true }));
      this.show(zoom ?? Math.max(this.map.getZoom(), NEAR));
    }

    // Show what is in the fields.
    show(zoom = NEAR) {
      const place = this.read();
      this.map.getContainer().hidden = this.isEmpty && !place && !this.marker;
      if (!place) return;
      if (!this.marker) {
        this.marker = L.marker(place, { ...this.look, draggable: true, autoPan: true }).addTo(this.map);
        this.marker.on("dragend", () => this.write(this.marker.getLatLng().wrap()));
        this.circle = L.circle(place, { radius: 0, color: "#0f766e", weight: 1, fillOpacity: 0.12, interactive: false }).addTo(this.map);
      }
      this.marker.setLatLng(place);
      this.circle.setLatLng(place).setRadius(Number(this.radius?.value) || 0);
      rota.orient(this.map, place);
      this.center(place, zoom);
    }

    center(place, zoom) {
      if (this.origin && !this.map.isMoved) rota.fit(this.map, L.latLngBounds([place, this.origin.getLatLng()]));
      else this.map.setView(place, zoom, { animate: false });
    }
  }

  const pins = new Map(); // element -> Pin
  function find(root) {
    for (const element of root.querySelectorAll("[data-pin]")) {
      // Django's formsets have a row that is only copied.
      if (!pins.has(element) && !element.closest(".empty-form")) pins.set(element, new Pin(element));
    }
  }
  find(document);
  document.addEventListener("formset:added", (event) => find(event.target)); // of Django's admin
  document.addEventListener("htmx:load", (event) => find(event.target));
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-lat]");
    if (button) pins.values().next().value?.write({ lat: Number(button.dataset.lat), lng: Number(button.dataset.lng) }, NEAREST);
  });
}

// Routes on a Leaflet map: A, B, C, D, the line between them, the driver. Used by a delivery's page and by the board.
"use strict";

const rota = {
  map(element, tiles) {
    const map = L.map(element, { zoomControl: true, attributionControl: Boolean(tiles.url) });
    if (tiles.url) L.tileLayer(tiles.url, { attribution: tiles.attribution, maxZoom: 19 }).addTo(map);
    L.control.scale({ imperial: false }).addTo(map);
    map.setView([-23.55, -46.63], 11);
    return map;
  },

  // A layer of one route. `chosen` makes it stand out.
  layer(route, chosen) {
    const places = route.points.map((point) => [point.lat, point.lng]);
    const colour = chosen ? "#0f766e" : "#64748b";
    const path = route.returns ? [...places, places[0]] : places;
    const parts = [L.polyline(path, { color: colour, weight: chosen ? 5 : 3, opacity: chosen ? 0.9 : 0.55, interactive: false })];
    for (const point of route.points) {
      const done = point.status === "DELIVERED" ? "done" : point.status === "FAILED" ? "failed" : "";
      const kind = `point ${point.label === "A" ? "pickup" : ""} ${done} ${chosen ? "chosen" : ""}`;
      parts.push(L.marker([point.lat, point.lng], {
        icon: L.divIcon({ className: kind, html: point.label, iconSize: [26, 26] }), keyboard: false, alt: point.label,
      }));
    }
    if (route.driver) {
      const icon = L.divIcon({ className: `driver ${chosen ? "chosen" : ""}`, html: "", iconSize: [22, 22] });
      const marker = L.marker([route.driver.lat, route.driver.lng], { icon, keyboard: false, alt: route.driver.name, zIndexOffset: 500 });
      const name = document.createElement("span");
      name.textContent = route.driver.name; // never as HTML
      marker.bindTooltip(name);
      parts.push(marker);
    }
    return L.featureGroup(parts);
  },
};

const own = document.getElementById("map");
if (own && own.dataset.route) {
  const read = (id) => JSON.parse(document.getElementById(id).textContent);
  const map = rota.map(own, read("tiles"));
  const layer = rota.layer(read(own.dataset.route), true).addTo(map);
  map.fitBounds(layer.getBounds(), { padding: [40, 40], maxZoom: 16 });
}

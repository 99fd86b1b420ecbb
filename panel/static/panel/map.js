// Routes on a Leaflet map: A, B, C, D, the line between them, the driver. Used by a delivery's page, the board, and pin.js.
"use strict";

window.rota = Object.assign(window.rota || {}, {
  // A map of `bounds`, or without them of São Paulo.
  map(element, tiles, bounds) {
    const map = L.map(element, { minZoom: 1, maxZoom: 19 });
    map.attributionControl.setPrefix(false);
    if (tiles.url) rota.ground(tiles).addTo(map);
    else rota.noGround(map);
    L.control.scale({ imperial: false }).addTo(map);
    if (bounds) rota.fit(map, bounds);
    else map.setView([-23.55, -46.63], 11);
    map.isMoved = false; // by somebody
    for (const name of ["wheel", "pointerdown", "keydown"]) {
      element.addEventListener(name, () => { map.isMoved = true; }, { capture: true, passive: true });
    }
    return map;
  },

  // Of a tile server, or drawn on canvases from the ranges of the map file: its tiles have the layers of the Protomaps basemap.
  ground({ url, attribution, is_vector, max_zoom: maxDataZoom }) {
    const options = { attribution, minZoom: 1, maxZoom: 19 };
    // Tile servers require a Referer, which pages whose address is a secret send nobody; without the path everybody may.
    if (!is_vector) return L.tileLayer(url, { ...options, referrerPolicy: "strict-origin" });
    // Names as they are on signs, in every language of the page. Without a background: where the file has no tile nothing is drawn.
    const layer = protomapsL.leafletLayer({ url, maxDataZoom, flavor: "light", lang: "pt", ...options });
    return Object.assign(layer, { backgroundColor: "" });
  },

  // Without a background `orient` says where places are, and templates/panel/ground.html what can be
  // done by those who may decide for streets.
  noGround(map) {
    const template = document.getElementById("no-ground");
    map.createPane("orientation").style.zIndex = 250; // below everything else
    map.orientation = L.layerGroup().addTo(map);
    if (!template) return;
    document.querySelector("[data-streets]")?.addEventListener("click", rota.showStreets);
    map.getContainer().after(template.content.cloneNode(true));
  },

  // On a map without a background: rings around `centre` with their distances, and the districts' names where `points` with a
  // `district` lie in them.
  orient(map, centre, points = []) {
    if (!map.orientation) return;
    const METRES_PER_DEGREE = 111_320;
    const options = { pane: "orientation", interactive: false, keyboard: false };
    const label = (place, className, textContent) => {
      const html = Object.assign(document.createElement("span"), { textContent }); // never as HTML
      return L.marker(place, { ...options, icon: L.divIcon({ className, html, iconSize: [0, 0] }) });
    };
    map.orientation.clearLayers();
    for (const [metres, text] of centre ? [[500, "500 m"], [1000, "1 km"], [2000, "2 km"]] : []) {
      map.orientation.addLayer(L.circle(centre, { ...options, className: "ring", radius: metres, weight: 1, fill: false }));
      map.orientation.addLayer(label([centre.lat + metres / METRES_PER_DEGREE, centre.lng], "ring-label", text));
    }
    for (const district of new Set(points.map((point) => point.district).filter(Boolean))) {
      const within = points.filter((point) => point.district === district).map(({ lat, lng }) => [lat, lng]);
      map.orientation.addLayer(label(L.latLngBounds(within).getCenter(), "district-label", district));
    }
  },

  // For everybody from the next page on. This one is loaded again unless that would lose what was entered.
  async showStreets({ target: button }) {
    const { streets, token, done, failed } = button.dataset;
    const say = (text) => { button.nextElementSibling.textContent = text; };
    button.disabled = true;
    const answer = await fetch(streets, { method: "POST", headers: { "X-CSRFToken": token }, redirect: "error" }).catch(() => null);
    button.disabled = false;
    if (!answer?.ok) return say(failed);
    const isEntered = (field) => {
      if (field.matches("select")) return field.selectedIndex !== Math.max(0, [...field.options].findIndex((option) => option.defaultSelected));
      return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
    };
    const fields = [...document.querySelectorAll("main form :is(input, select, textarea)")];
    if (!fields.some(isEntered) && !document.querySelector("main [aria-invalid=true]")) return location.reload();
    button.hidden = true;
    say(done);
  },

  // Without animation: layers that are added while a map zooms are drawn at the wrong places until it has ended.
  fit(map, bounds, options = {}) {
    map.fitBounds(bounds, { padding: [30, 30], maxZoom: 16, animate: false, ...options });
  },

  // Where a route is: its points and its driver.
  bounds(route) {
    const driver = route.driver && route.driver.lat !== null ? [[route.driver.lat, route.driver.lng]] : [];
    return L.latLngBounds([...route.points.map((point) => [point.lat, point.lng]), ...driver]);
  },

  // The line through A, B, C, D and, if the driver returns, A, or from B to A: the `way` of the route where it is known, else straight and dashed.
  path(route, chosen) {
    const places = route.points.map((point) => [point.lat, point.lng]);
    const stops = route.reverse ? places.slice(1) : places;
    const path = route.way ?? (route.returns || route.reverse ? [...stops, places[0]] : places);
    const dashArray = route.way ? null : "2 8";
    return L.polyline(path, { color: chosen ? "#0f766e" : "#64748b", weight: chosen ? 5 : 3, opacity: chosen ? 0.9 : 0.45, interactive: false, dashArray });
  },

  // A layer of one route. `chosen` makes it stand out. `moved` is called with a point and the place where it was dragged to.
  layer(route, chosen, moved = null) {
    const parts = [rota.path(route, chosen)];
    for (const point of route.points) {
      const done = point.status === "DELIVERED" ? "done" : point.status === "FAILED" ? "failed" : "";
      const kind = `point ${point.label === "A" ? "pickup" : ""} ${done} ${chosen ? "chosen" : ""}`;
      const marker = L.marker([point.lat, point.lng], {
        icon: L.divIcon({ className: kind, html: point.label, iconSize: [26, 26] }), keyboard: false, alt: point.label, zIndexOffset: chosen ? 1000 : 0,
        draggable: Boolean(moved), autoPan: Boolean(moved),
      });
      marker.on("dragend", () => moved(point, marker.getLatLng().wrap()));
      parts.push(marker);
    }
    if (route.driver && route.driver.lat !== null) parts.push(rota.driver(route, chosen));
    return L.featureGroup(parts);
  },

  // The driver's marker. Beside a point that it would cover, not over it.
  driver(route, chosen) {
    const NEAR_PIXELS = 24;
    const icon = L.divIcon({ className: `driver ${chosen ? "chosen" : ""}`, html: "", iconSize: [22, 22] });
    const marker = L.marker([route.driver.lat, route.driver.lng], { icon, keyboard: false, alt: route.driver.name, zIndexOffset: chosen ? 1500 : 500 });
    const name = document.createElement("span");
    name.textContent = route.driver.name; // never as HTML
    marker.bindTooltip(name);
    const place = () => {
      const map = marker._map;
      const at = (lat, lng) => map.project([lat, lng], map.getZoom());
      const own = at(route.driver.lat, route.driver.lng);
      const isNear = route.points.some((point) => own.distanceTo(at(point.lat, point.lng)) < NEAR_PIXELS);
      marker.getElement().classList.toggle("beside", isNear);
    };
    marker.on("add", () => { place(); marker._map.on("zoomend", place); });
    marker.on("remove", () => marker._map.off("zoomend", place));
    return marker;
  },

  coordinates: ({ lat, lng }) => `${lat.toFixed(5)}, ${lng.toFixed(5)}`,
});

// The map of a delivery's page. A click writes its place into the field with `data-on-map`, if the page has one.
{
  const element = document.getElementById("map");
  if (element && element.dataset.route) {
    const text = (id) => document.getElementById(id).textContent;
    let shown = text(element.dataset.route);
    let route = JSON.parse(shown);
    const map = rota.map(element, JSON.parse(text("tiles")), rota.bounds(route));
    let layer = rota.layer(route, true).addTo(map);
    rota.orient(map, route.points[0], route.points);
    let picked = null; // the marker of a click
    new ResizeObserver(() => {
      map.invalidateSize({ animate: false });
      if (!map.isMoved) rota.fit(map, rota.bounds(route));
    }).observe(element);

    document.body.addEventListener("htmx:afterSettle", () => {
      const now = text(element.dataset.route);
      if (now === shown) return;
      shown = now;
      route = JSON.parse(now);
      picked?.remove();
      layer.remove();
      layer = rota.layer(route, true).addTo(map);
    });

    const field = () => document.querySelector("[data-on-map]");
    map.on("click", (event) => {
      if (!field()) return;
      field().value = rota.coordinates(event.latlng.wrap());
      field().dispatchEvent(new Event("change", { bubbles: true }));
      picked?.remove();
      picked = L.circleMarker(event.latlng, { radius: 9, color: "#92400e", fillColor: "#fbbf24", fillOpacity: 0.6, interactive: false }).addTo(map);
    });
    const showCursor = () => element.classList.toggle("picking", Boolean(field()));
    showCursor();
    document.body.addEventListener("htmx:afterSettle", showCursor);
  }
}

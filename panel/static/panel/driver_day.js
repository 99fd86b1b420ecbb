// The map of a driver's day: the way as a line, the points of the routes, and where the driver was last.
"use strict";

{
  const element = document.getElementById("map");
  if (element) {
    const { way, points } = JSON.parse(document.getElementById("day").textContent);
    const places = [...way, ...points.map((point) => [point.lat, point.lng])];
    const map = rota.map(element, JSON.parse(document.getElementById("tiles").textContent), L.latLngBounds(places));
    rota.layer({ points, driver: null, way }, true).addTo(map);
    if (way.length) rota.driver({ points: [], driver: { name: element.dataset.driver, lat: way.at(-1)[0], lng: way.at(-1)[1] } }, true).addTo(map);
    new ResizeObserver(() => {
      map.invalidateSize({ animate: false });
      if (!map.isMoved) rota.fit(map, L.latLngBounds(places));
    }).observe(element);
  }
}

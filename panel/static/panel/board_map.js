// The map of the dispatch board: one marker for each route, where its driver is or else at A, and one for each free driver.
// Markers that would cover each other are one with their number. Only the chosen route, or few routes, show all points.
"use strict";

(() => {
  const CELL_PIXELS = 44; // of markers that are drawn as one
  const MOST_PATHS = 8; // with more routes in view their lines hide the map
  const map = rota.map(document.getElementById("map"), JSON.parse(document.getElementById("tiles").textContent));
  const layers = L.layerGroup().addTo(map);
  let drawn = ""; // what the layers show, as text
  let fitted = false;

  const place = (route) => {
    const driver = route.driver?.at ? route.driver : null;
    const { lat, lng } = driver ?? route.points[route.reverse ? 1 : 0];
    return [lat, lng];
  };

  // Groups of things whose places fall into the same cell of the screen.
  function groups(things, at) {
    const cells = new Map();
    for (const thing of things) {
      const point = map.project(at(thing), map.getZoom()).divideBy(CELL_PIXELS).floor();
      const key = `${point.x} ${point.y}`;
      cells.set(key, [...(cells.get(key) ?? []), thing]);
    }
    return [...cells.values()];
  }

  function marker(where, kind, text, title, click) {
    const icon = L.divIcon({ className: `board-marker ${kind}`, html: "", iconSize: [30, 30] });
    const made = L.marker(where, { icon, keyboard: false, title, riseOnHover: true });
    made.on("add", () => { made.getElement().textContent = text; });
    if (click) made.on("click", click);
    return made.addTo(layers);
  }

  const middle = (things, at) => {
    const places = things.map(at);
    return [0, 1].map((axis) => places.reduce((sum, each) => sum + each[axis], 0) / places.length);
  };
  const zoomTo = (things, at) => () => map.fitBounds(L.latLngBounds(things.map(at)), { padding: [80, 80], maxZoom: Math.min(18, map.getZoom() + 3) });

  function drawPath(route) {
    rota.path(route, false).addTo(layers);
    for (const point of route.points.slice(1)) {
      L.circleMarker([point.lat, point.lng], { radius: 4, weight: 2, color: "#fff", fillColor: "#475569", fillOpacity: 1, interactive: false }).addTo(layers);
    }
  }

  const initials = (name) => name.split(" ").filter(Boolean).map((word) => word[0]).slice(0, 2).join("").toUpperCase();

  function drawRoutes(shown) {
    for (const group of groups(shown, place)) {
      const late = group.some(board.late) ? "late" : "";
      const [route] = group;
      if (group.length === 1) {
        marker(place(route), `${route.status.toLowerCase()} ${late}`, route.driver ? initials(route.driver.name) : "A", route.driver?.name ?? "", () => board.choose(route.id, { scroll: true }));
      } else {
        const words = board.words.routesHere.replace("%s", group.length);
        marker(middle(group, place), `many ${late}`, group.length, words, zoomTo(group, place));
      }
    }
  }

  const age = (driver) => Math.max(0, Date.now() / 1000 - driver.at);
  function words(driver) {
    const text = document.createElement("span");
    const vehicle = board.words[driver.vehicle.toLowerCase()];
    text.textContent = board.words.freeDriver.replace("%s", () => driver.name).replace("%s", vehicle).replace("%s", board.duration(age(driver))); // never as HTML
    return text;
  }

  function drawFree() {
    const at = (driver) => [driver.lat, driver.lng];
    for (const group of groups(board.free, at)) {
      const isOne = group.length === 1;
      const isOld = group.every((driver) => age(driver) > Number(board.words.freshSeconds));
      const title = isOne ? "" : board.words.driversHere.replace("%s", group.length);
      const [driver] = group;
      const vehicle = isOne && driver.vehicle === "CAR" ? "car" : "";
      const made = marker(middle(group, at), `free ${vehicle} ${isOne ? "" : "many"} ${isOld ? "old" : ""}`, isOne ? initials(driver.name) : group.length, title, isOne ? null : zoomTo(group, at));
      if (!isOne) continue;
      made.bindTooltip(() => words(driver));
      Object.assign(made.getElement().dataset, { driver: driver.id, name: driver.name, vehicle: driver.vehicle }); // cards are dropped on it
    }
  }
  // Brings a free driver into view.
  board.showDriver = (id) => {
    const driver = board.free.find((each) => each.id === id);
    if (!driver) return;
    board.view("map");
    map.isMoved = true;
    map.setView([driver.lat, driver.lng], Math.max(map.getZoom(), 16), { animate: false });
    draw();
    layers.eachLayer((layer) => { if (layer.getElement?.()?.dataset?.driver === id) layer.openTooltip(); });
  };
  {
    const legend = document.getElementById("legend");
    legend.open = localStorage.getItem("board-legend") === "open" && innerWidth > 820; // closed, it covers no marker
    legend.addEventListener("toggle", () => { if (innerWidth > 820) localStorage.setItem("board-legend", legend.open ? "open" : "closed"); });
  }

  // Around the A of these routes; of several, around the one that most have in common.
  function orient(routes) {
    const starts = routes.map(({ points: [start] }) => start);
    const number = (start) => starts.filter(({ lat, lng }) => lat === start.lat && lng === start.lng).length;
    const centre = starts.reduce((most, start) => (most && number(most) >= number(start) ? most : start), null);
    rota.orient(map, centre, routes.length <= MOST_PATHS ? routes.flatMap(({ points }) => points) : starts);
  }

  function draw() {
    const shown = board.shown();
    const bounds = map.getBounds().pad(0.2);
    const key = JSON.stringify([shown.map((route) => [route.id, route.version, place(route), board.late(route)]), board.free, board.chosen, Boolean(board.ways.get(board.chosen)), map.getZoom(), bounds.toBBoxString()]);
    if (key === drawn) return;
    drawn = key;
    layers.clearLayers();
    const inView = shown.filter((route) => bounds.contains(place(route)));
    const chosen = board.routes.get(board.chosen);
    drawFree();
    if (!chosen && inView.length <= MOST_PATHS) for (const route of inView) drawPath(route);
    if (chosen) rota.layer({ ...chosen, way: board.ways.get(chosen.id) }, true).addTo(layers);
    drawRoutes(inView.filter((route) => route !== chosen));
    orient(chosen ? [chosen] : inView);
    map.getContainer().classList.toggle("has-choice", Boolean(chosen));
    if (!fitted && shown.length) fitAll();
  }
  board.changed.push(draw);
  map.on("moveend zoomend", draw);
  setInterval(draw, 5000); // routes become late

  function fitAll() {
    const shown = board.shown();
    if (!shown.length) return;
    fitted = true;
    // Of what is drawn: markers, and of few routes their paths.
    const bounds = L.latLngBounds(shown.map(place));
    if (shown.length <= MOST_PATHS) for (const route of shown) bounds.extend(rota.bounds(route));
    rota.fit(map, bounds, { maxZoom: 15 });
  }
  board.fit = (id) => {
    const route = board.routes.get(id);
    if (route) rota.fit(map, rota.bounds(route), { padding: [60, 60] });
  };
  // Calls `use` with the coordinates of the next click; returns a function that ends this.
  board.onNextClick = (use) => {
    const listener = (event) => use(rota.coordinates(event.latlng.wrap()));
    map.getContainer().classList.add("picking");
    map.on("click", listener);
    return () => { map.off("click", listener); map.getContainer().classList.remove("picking"); };
  };
  new ResizeObserver(() => {
    map.invalidateSize({ animate: false });
    if (board.chosen) board.fit(board.chosen);
    else if (!map.isMoved) fitAll();
  }).observe(map.getContainer());
})();

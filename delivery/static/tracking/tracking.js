// Asks for the page again every ten seconds while it is seen and the stop is open, and draws the map while there is one.
"use strict";

{
  const PAUSE = 10_000; // milliseconds, like below
  const DEADLINE = 8_000;
  const PARTS = ["now", "note", "more"];
  const box = document.getElementById("map");
  const offline = document.getElementById("offline");
  const part = (id, root = document) => root.querySelector(`#${id}`);
  let version = ""; // ETag of the newest answer
  let shownAt = new Date();
  let misses = 0;
  let timer = null;

  async function ask() {
    clearTimeout(timer);
    if (document.hidden || !part("now").hasAttribute("data-live")) return;
    try {
      const headers = version ? { "If-None-Match": version } : {};
      const answer = await fetch(location.href, { headers, cache: "no-store", signal: AbortSignal.timeout(DEADLINE) });
      if (answer.status === 404 || answer.status === 410) return location.reload();
      if (answer.ok) {
        version = answer.headers.get("ETag") ?? "";
        replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
      } else if (answer.status !== 304) throw new Error(answer.status);
      shownAt = new Date();
      misses = 0;
    } catch {
      misses += 1;
    }
    offline.hidden = misses < 2;
    const time = shownAt.toLocaleTimeString(document.documentElement.lang, { hour: "2-digit", minute: "2-digit", timeZone: offline.dataset.zone });
    if (misses >= 2) offline.textContent = offline.dataset.text.replace("%s", time);
    timer = setTimeout(ask, PAUSE);
  }

  // Whether somebody writes to the driver, or has opened what was written.
  function isWritten() {
    if (part("note").querySelector("details[open]")) return true;
    const inputs = [...part("note").querySelectorAll("input")];
    return inputs.some((input) => input === document.activeElement || input.value !== input.defaultValue);
  }

  function replace(page) {
    const said = document.querySelector("h1").textContent;
    for (const id of PARTS) {
      if (id === "note" && isWritten()) continue;
      if (part(id, page).outerHTML !== part(id).outerHTML) part(id).replaceWith(document.adoptNode(part(id, page)));
    }
    const now = document.querySelector("h1").textContent;
    if (now !== said) document.getElementById("announcement").textContent = now;
    draw();
  }

  // The map's own files are loaded when there is something to draw.
  let loaded = null;
  function load() {
    for (const href of box.dataset.styles.split(" ")) {
      document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href }));
    }
    return box.dataset.scripts.split(" ").reduce((before, src) => before.then(() => new Promise((done, failed) => {
      document.head.append(Object.assign(document.createElement("script"), { src, onload: done, onerror: failed }));
    })), Promise.resolve());
  }

  let map = null;
  let layer = null;
  let drawn = "";
  let bounds = null; // of what is drawn
  let isMoved = false; // by somebody
  async function draw() {
    box.hidden = !part("places");
    if (box.hidden) return;
    try {
      await (loaded ??= load());
    } catch {
      loaded = null; // tried again with the next answer
      box.hidden = true;
      return;
    }
    const text = part("places")?.textContent;
    if (!text || text === drawn) return;
    drawn = text;
    const { stop, driver } = JSON.parse(text);
    bounds = L.latLngBounds([[stop.lat, stop.lng], ...(driver ? [[driver.lat, driver.lng]] : [])]);
    map ??= open();
    layer?.remove();
    const isAbove = !driver || driver.lat < stop.lat; // the destination
    layer = L.featureGroup([named(destination(stop), box.dataset.destination, isAbove)]);
    if (driver) {
      const name = driver.name || box.dataset.driver;
      layer.addLayer(named(rota.driver({ driver: { ...driver, name }, points: [stop] }, true), name, !isAbove));
    }
    layer.addTo(map);
    rota.orient(map, stop);
    if (!isMoved) fit();
  }

  function fit() {
    rota.fit(map, bounds, { padding: [60, 50] }); // for the names
  }

  // A marker with a name that always shows, above or below it.
  function named(marker, name, isAbove) {
    const text = Object.assign(document.createElement("span"), { textContent: name }); // never as HTML
    const look = isAbove ? { direction: "top", offset: [0, -16] } : { direction: "bottom", offset: [0, 16] };
    return marker.unbindTooltip().bindTooltip(text, { ...look, permanent: true });
  }

  function open() {
    const tiles = JSON.parse(document.getElementById(box.dataset.tiles).textContent);
    const made = rota.map(box, tiles, bounds);
    for (const name of ["wheel", "pointerdown", "keydown"]) {
      box.addEventListener(name, () => { isMoved = true; }, { capture: true, passive: true });
    }
    new ResizeObserver(() => {
      made.invalidateSize({ animate: false });
      if (!isMoved && !box.hidden) fit();
    }).observe(box);
    return made;
  }

  function destination(place) {
    const icon = L.divIcon({ className: "destination", html: "", iconSize: [26, 26] });
    return L.marker([place.lat, place.lng], { icon, keyboard: false, alt: box.dataset.destination, title: box.dataset.destination });
  }

  document.addEventListener("visibilitychange", ask);
  window.addEventListener("online", ask);
  draw();
  timer = setTimeout(ask, PAUSE);
}

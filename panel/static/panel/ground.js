// The ground of a map: vector tiles with the layers of the Protomaps basemap (version 4), drawn on canvases of Leaflet.
"use strict";

{
  const { POINT, LINE, POLYGON } = rota.vectorTile;
  const TILE = 512; // pixels: a tile is drawn one zoom level above its own
  const LAND = "#f4f2ee", WATER = "#b8d8e6", GREEN = "#dcebd3", BUILT = "#eceae6", BUILDING = "#e2dfda", RAIL = "#c9c5c0";
  const GREENS = new Set([
    "park", "forest", "wood", "grass", "grassland", "nature_reserve", "national_park", "protected_area", "cemetery",
    "golf_course", "garden", "recreation_ground", "pitch", "scrub", "village_green", "playground", "allotments", "farmland",
  ]);
  const BUILT_UP = new Set(["residential", "commercial", "industrial", "hospital", "school", "university", "college", "railway", "aerodrome"]);
  // Of the roads, the least important first: the colour, the edge, and pixels of width at the zoom levels 10, 14 and 18.
  const ROADS = [
    ["path", "#e8e2d6", null, [0, 0.6, 2]],
    ["other", "#ffffff", "#dedad3", [0, 0.8, 5]],
    ["minor_road", "#ffffff", "#d5d0c8", [0, 2, 14]],
    ["medium_road", "#fffaf0", "#cfc8bb", [0.6, 3.4, 18]],
    ["major_road", "#fff1cf", "#d8c59a", [1.4, 5, 22]],
    ["highway", "#fbd9a0", "#cfa562", [2, 6.5, 26]],
  ];
  const FONT = "system-ui, sans-serif";
  // Pixels of places' names by their kind, and the first zoom level.
  const PLACES = { country: [15, 2], region: [14, 4], locality: [14, 4], macrohood: [12, 11], neighbourhood: [11, 13] };

  function width([low, middle, high], zoom) {
    if (zoom <= 14) return Math.max(0, low + (middle - low) * (zoom - 10) / 4);
    return middle * (high / middle) ** Math.min(1.25, (zoom - 14) / 4);
  }

  // Draws a part of a tile: where the map is nearer than the tiles, `parts` of them are side by side, and of `column` and
  // `row` is this one.
  function draw(canvas, layers, zoom, parts, column, row) {
    const context = canvas.getContext("2d");
    const ratio = canvas.width / TILE;
    const all = (name) => layers[name]?.features ?? [];
    // Functions from a tile's coordinates to CSS pixels.
    const toX = (name, x) => x * parts * TILE / layers[name].extent - column * TILE;
    const toY = (name, y) => y * parts * TILE / layers[name].extent - row * TILE;

    function trace(feature, name) {
      context.beginPath();
      for (const line of feature.lines) {
        for (let at = 0; at < line.length; at += 2) context[at ? "lineTo" : "moveTo"](toX(name, line[at]), toY(name, line[at + 1]));
      }
    }
    function fill(name, colour) {
      for (const feature of all(name)) {
        const chosen = feature.type === POLYGON && colour(feature.properties.kind);
        if (!chosen) continue;
        trace(feature, name);
        context.fillStyle = chosen;
        context.fill("evenodd");
      }
    }
    function stroke(name, colour, pixels, wanted) {
      if (pixels <= 0) return;
      Object.assign(context, { strokeStyle: colour, lineWidth: pixels, lineCap: "round", lineJoin: "round" });
      for (const feature of all(name)) {
        if (feature.type !== LINE || !wanted(feature.properties)) continue;
        trace(feature, name);
        context.stroke();
      }
    }

    context.scale(ratio, ratio);
    fill("earth", () => LAND);
    fill("landuse", (kind) => (GREENS.has(kind) ? GREEN : BUILT_UP.has(kind) ? BUILT : null));
    fill("water", () => WATER);
    stroke("water", WATER, Math.max(0.8, zoom - 13), () => true);
    if (zoom >= 15) fill("buildings", (kind) => (kind === "address" ? null : BUILDING));
    stroke("boundaries", "#b9a9b5", 1, ({ kind }) => kind === "country" || kind === "region");
    stroke("roads", RAIL, 1.2, ({ kind }) => kind === "rail");
    const shown = ROADS.map(([kind, colour, edge, sizes]) => [({ kind: own }) => own === kind, colour, edge, width(sizes, zoom)]);
    for (const [wanted, , edge, pixels] of shown) if (edge && pixels > 2) stroke("roads", edge, pixels + 1.6, wanted);
    for (const [wanted, colour, edge, pixels] of shown) stroke("roads", pixels > 2 ? colour : edge ?? colour, pixels, wanted);
    names(context, all, toX, toY, zoom);
  }

  // Names that fit into the tile: a neighbouring tile has the rest of a street.
  function names(context, all, toX, toY, zoom) {
    const taken = [];
    function write(text, x, y, angle, size, colour) {
      context.font = `${size}px ${FONT}`;
      const half = context.measureText(text).width / 2 + 2;
      const [w, h] = [half * Math.abs(Math.cos(angle)) + size * Math.abs(Math.sin(angle)), half * Math.abs(Math.sin(angle)) + size];
      const box = [x - w, y - h, x + w, y + h];
      if (box[0] < 0 || box[1] < 0 || box[2] > TILE || box[3] > TILE) return;
      if (taken.some((other) => box[0] < other[2] && other[0] < box[2] && box[1] < other[3] && other[1] < box[3])) return;
      taken.push(box);
      context.save();
      context.translate(x, y);
      context.rotate(angle);
      Object.assign(context, { textAlign: "center", textBaseline: "middle", lineWidth: 3, lineJoin: "round", strokeStyle: "#ffffffd0", fillStyle: colour });
      context.strokeText(text, 0, 0);
      context.fillText(text, 0, 0);
      context.restore();
    }

    for (const { type, properties, lines } of all("places")) {
      const [size, first] = PLACES[properties.kind] ?? [0, 99];
      if (type !== POINT || !properties.name || zoom < first || !lines.length) continue;
      write(properties.name, toX("places", lines[0][0]), toY("places", lines[0][1]), 0, size, "#57534e");
    }
    if (zoom < 14) return;
    const written = new Set();
    for (const { type, properties, lines } of all("roads")) {
      const { name, kind } = properties;
      if (type !== LINE || !name || written.has(name) || kind === "path" || (kind === "minor_road" && zoom < 15)) continue;
      const found = straightest(lines.map((line) => line.map((at, index) => (index % 2 ? toY : toX)("roads", at))));
      const size = kind === "minor_road" || kind === "other" ? 10 : 11.5;
      context.font = `${size}px ${FONT}`;
      if (!found || found.length < 0.8 * context.measureText(name).width) continue;
      written.add(name);
      write(name, found.x, found.y, found.angle, size, "#57534e");
    }
  }

  // The middle, length and direction of the longest straight piece within the tile, never upside down.
  function straightest(lines) {
    let best = null;
    for (const line of lines) {
      for (let from = 0; from + 3 < line.length;) {
        const direction = (at) => Math.atan2(line[at + 3] - line[at + 1], line[at + 2] - line[at]);
        const start = direction(from);
        let to = from + 2;
        while (to + 3 < line.length && Math.abs(Math.sin(direction(to) - start)) < 0.15) to += 2;
        const piece = within(line[from], line[from + 1], line[to], line[to + 1]);
        if (piece && (!best || piece.length > best.length)) best = piece;
        from = to;
      }
    }
    return best;
  }

  // The part of a line from [x, y] to [x2, y2] that is in the tile.
  function within(x, y, x2, y2) {
    const [dx, dy] = [x2 - x, y2 - y];
    let [from, to] = [0, 1];
    for (const [at, change] of [[x, dx], [y, dy]]) {
      if (!change && (at < 0 || at > TILE)) return null;
      if (!change) continue;
      const [enter, leave] = [-at / change, (TILE - at) / change].sort((one, other) => one - other);
      from = Math.max(from, enter);
      to = Math.min(to, leave);
    }
    if (from >= to) return null;
    const middle = (from + to) / 2;
    const angle = Math.atan2(dy, dx);
    return {
      x: x + middle * dx, y: y + middle * dy, length: (to - from) * Math.hypot(dx, dy),
      angle: Math.abs(angle) > Math.PI / 2 ? angle + Math.PI : angle,
    };
  }

  const Ground = L.GridLayer.extend({
    createTile(coords, done) {
      const canvas = document.createElement("canvas");
      canvas.width = canvas.height = Math.round(TILE * Math.min(3, window.devicePixelRatio || 1));
      canvas.className = "ground";
      // Nearer than the tiles of the file, each of them covers several of these.
      const parts = 2 ** Math.max(0, coords.z - 1 - this.options.own);
      const [x, y] = [Math.floor(coords.x / parts), Math.floor(coords.y / parts)];
      const address = L.Util.template(this.options.address, { z: Math.min(coords.z - 1, this.options.own), x, y });
      fetch(address, { signal: (canvas.loading = new AbortController()).signal })
        .then(async (answer) => {
          if (answer.status === 200) {
            const layers = rota.vectorTile(await answer.arrayBuffer());
            draw(canvas, layers, coords.z, parts, coords.x - x * parts, coords.y - y * parts);
          }
          done(null, canvas);
        })
        .catch((error) => done(error, canvas)); // drawn again when the map moves
      return canvas;
    },
  });

  // A layer for Leaflet. `tiles`: panel/maps.py.
  rota.ground = ({ url, attribution, max_zoom: own }) => {
    const layer = new Ground({ tileSize: TILE, address: url, attribution, own, minZoom: 1, maxZoom: 19 });
    layer.on("tileunload", ({ tile }) => tile.loading.abort());
    return layer;
  };
}

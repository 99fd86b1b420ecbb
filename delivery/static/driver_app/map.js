// A small map of an offer: where its points are to each other, to scale, north above. No streets, so that it needs no files.

const WIDTH = 320;
const HEIGHT = 120;
const MARGIN = 22;
const RADIUS = 13;
const SVG = "http://www.w3.org/2000/svg";

function shape(name, attributes, content = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = content;
  return element;
}

/** Places on the map of points in degrees: a degree of longitude is shorter the farther from the equator. */
function placed(points) {
  const north = points.map(({ coordinates }) => coordinates.latitude);
  const shrink = Math.cos((north[0] * Math.PI) / 180);
  const east = points.map(({ coordinates }) => coordinates.longitude * shrink);
  const [west, south] = [Math.min(...east), Math.min(...north)];
  const [wide, high] = [Math.max(...east) - west, Math.max(...north) - south];
  const scales = [wide && (WIDTH - 2 * MARGIN) / wide, high && (HEIGHT - 2 * MARGIN) / high].filter(Boolean);
  const scale = scales.length ? Math.min(...scales) : 0;
  return points.map((_point, index) => [
    WIDTH / 2 + (east[index] - west - wide / 2) * scale,
    HEIGHT / 2 - (north[index] - south - high / 2) * scale,
  ]);
}

/** The map as an element. People who do not see it read the addresses beside it. */
export function sketch(points) {
  const svg = shape("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true", class: "sketch" });
  const places = placed(points);
  svg.append(shape("polyline", { points: places.map((place) => place.join(",")).join(" ") }));
  for (const [index, [x, y]] of [...places.entries()].reverse()) { // A is above the others
    svg.append(shape("circle", { cx: x, cy: y, r: RADIUS }), shape("text", { x, y: y + 5 }, points[index].label));
  }
  return svg;
}

// What a route is once the moves that wait have been made, so that drivers work on without a connection. The service
// decides; delivery/lifecycle.py has the rules.

const OPEN = new Set(["PENDING", "ACCEPT", "COLLECTED"]);

function make(route, { trigger, point }) {
  const stop = route.points.find((each) => each.label === point && each.type === "dropoff");
  if (trigger === "collect" && route.status === "ACCEPTED") route.status = "COLLECTED";
  if (stop && OPEN.has(stop.status) && (trigger === "deliver" || trigger === "fail")) {
    Object.assign(stop, { status: trigger === "deliver" ? "DELIVERED" : "FAILED", isWaiting: true });
    const stops = route.points.slice(1);
    if (!stops.some((each) => OPEN.has(each.status))) {
      const bringsBack = route.returnsToA || stops.some((each) => each.status === "FAILED");
      route.status = bringsBack ? "RETURNING" : "FINISHED";
    }
  }
  if (trigger === "return" && route.status === "RETURNING") route.status = "FINISHED";
}

/** The route after these moves, or null without one. Its `status` is FINISHED when nothing is left to do. */
export function predicted(route, moves) {
  if (!route) return null;
  const after = structuredClone(route);
  for (const move of moves) if (move.deliveryId === route.deliveryId) make(after, move);
  return after;
}

/** The next move of a route, { trigger, point }, with the point where it is made. Null when nothing is left to do. */
export function nextMove(route) {
  if (route.status === "ACCEPTED") return { trigger: "collect", point: route.points[0] };
  if (route.status === "RETURNING") return { trigger: "return", point: route.points[0] };
  const stop = route.points.slice(1).find((each) => OPEN.has(each.status));
  return stop ? { trigger: "deliver", point: stop } : null;
}

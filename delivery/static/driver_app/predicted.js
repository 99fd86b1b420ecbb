// What a route is once the moves that wait have been made, so that drivers work on without a connection. The service
// decides; delivery/lifecycle.py has the rules.

const OPEN = new Set(["PENDING", "ACCEPT", "COLLECTED"]);
const AFTER = { collect: "COLLECTED", deliver: "DELIVERED", fail: "FAILED" };

const isReverse = (route) => route.mode === "REVERSE";

// The driver has been at a stop. One that failed for the first time may be tried again after the others.
function visit(route, stop, trigger) {
  route.ahead = route.ahead.filter((label) => label !== stop.label);
  stop.isWaiting = true;
  if (trigger === "fail" && !isReverse(route) && stop.onFailure === "RETRY" && !stop.wasTried) {
    stop.wasTried = true;
    route.ahead.push(stop.label);
    return;
  }
  stop.status = AFTER[trigger];
  const has = (status) => route.points.slice(1).some((each) => each.status === status);
  const bringsToA = isReverse(route) ? has("COLLECTED") : route.mode === "RETURN" || has("FAILED");
  if (!route.ahead.length) route.status = bringsToA ? "RETURNING" : "FINISHED";
  else if (stop.status === "COLLECTED") route.status = "COLLECTED";
}

function make(route, { trigger, point }) {
  const stop = route.points.slice(1).find((each) => each.label === point);
  if (stop && route.ahead.includes(point)) visit(route, stop, trigger);
  if (trigger === "collect" && !stop && route.status === "ACCEPTED") route.status = "COLLECTED";
  if (trigger === "return" && route.status === "RETURNING") route.status = "FINISHED";
}

// A state of the version before this, which the phone has kept or a server that is not replaced yet has answered with.
function whole(route) {
  const open = route.points.slice(1).filter(({ status }) => OPEN.has(status)).map(({ label }) => label);
  const points = route.points.map((point) => ({ phone: { shown: point.contacts?.phoneNumber ?? "", call: "", chat: "" }, ...point }));
  return { mode: route.returnsToA ? "RETURN" : "DEFAULT", ahead: open, photoFor: [], ...route, points };
}

/** The route after these moves, or null without one. Its `status` is FINISHED when nothing is left to do. */
export function predicted(route, moves) {
  if (!route) return null;
  const after = structuredClone(whole(route));
  for (const move of moves) if (move.deliveryId === route.deliveryId) make(after, move);
  return after;
}

/** The next move of a route, { trigger, point }, with the point where it is made. Null when nothing is left to do. */
export function nextMove(route) {
  if (route.status === "RETURNING") return { trigger: "return", point: route.points[0] };
  if (route.status === "ACCEPTED" && !isReverse(route)) return { trigger: "collect", point: route.points[0] };
  const stop = route.points.find((each) => each.label === route.ahead[0]);
  return stop ? { trigger: isReverse(route) ? "collect" : "deliver", point: stop } : null;
}

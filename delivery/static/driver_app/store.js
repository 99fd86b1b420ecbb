// What the page shows. Whoever changes it calls `update`; the page is drawn again after that.

export const store = {
  state: null, // the last answer of `/driver/state/`, or null
  since: null, // when that was, by the phone's clock
  gone: null, // the route that was cancelled or taken away, until the driver has read it: see `server.js`
  isLoggedOut: false,
  isReachable: true,
  moves: [], // see `queue.js`
  isStuck: false, // the service has failed too often at what waits: it is sent again when the driver wants it
  push: "", // notifications while the page is closed: "on", "ask", "later", "denied", or "" where there are none
  location: "", // "denied" or "missing" when positions cannot be had, "unusable" when the service drops them
  problem: "", // what the last press of a button could not do
  notified: location.hash.slice(1), // the offer whose notification was pressed, until it is shown
  finished: null, // what the driver has done on the route that has ended, until it is read
};

let listeners = [];
let isPlanned = false;

/** Returns a function that ends it. */
export function onUpdate(listener) {
  listeners.push(listener);
  return () => { listeners = listeners.filter((each) => each !== listener); };
}

export function update(changes) {
  Object.assign(store, changes);
  if (isPlanned) return;
  isPlanned = true;
  queueMicrotask(() => {
    isPlanned = false;
    for (const listener of listeners) listener();
  });
}

// What the page shows, see `offline/store.js`. `state` is the last answer of `/driver/state/`.
import { onUpdate, store, update } from "../offline/store.js";

Object.assign(store, {
  since: null, // when `state` came, by the phone's clock
  gone: null, // the route that was cancelled or taken away, until the driver has read it: see `server.js`
  moves: [], // see `queue.js`
  push: "", // notifications while the page is closed: "on", "ask", "later", "denied", or "" where there are none
  location: "", // "denied" or "missing" when positions cannot be had, "unusable" when the service drops them
  notified: location.hash.slice(1), // the offer whose notification was pressed, until it is shown
  finished: null, // what the driver has done on the route that has ended, until it is read
});

export { onUpdate, store, update };

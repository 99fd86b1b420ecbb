// What the page shows, see `offline/store.js`. `state` is the last answer of `/panel/scan/state/`.
import { onUpdate, store, update } from "../offline/store.js";

Object.assign(store, {
  isForbidden: false, // who is logged in may not scan
  isLeaving: false, // the log-out was not sent yet
  move: null, // what is scanned for: { status, reasonCode, reason, place, person, day }
  scans: [], // see `scans.js`
  last: null, // what the last scan has become: { kind, id, code }, of a kind that templates/scan/parts.html has
  done: 0, // today, by this person on this device
  hasSound: true,
  camera: "", // "on", "starting" or ""
  hasLight: false, // that can be switched on beside the camera
});

export { onUpdate, store, update };

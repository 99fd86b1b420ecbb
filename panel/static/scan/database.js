// What the device keeps, see `offline/database.js`.
//
//   scans  what was scanned: waits, was refused, or is one of the last that were done: see `scans.js`
//   kept   by name: the last state, the move that was chosen, how many were done today, and whether there is sound
import { database } from "../offline/database.js";

export const { read, write, keep, kept } = database("scan", { scans: { keyPath: "order", autoIncrement: true } });

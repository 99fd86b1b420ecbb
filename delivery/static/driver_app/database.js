// What the phone keeps, see `offline/database.js`.
//
//   moves   what the driver did and the service has not answered yet, or has refused: see `queue.js`
//   photos  { id, bytes, takenAt, deliveryId, point, version, isSent }: a JPEG that a move or a draft names
//   drafts  { key, receivedBy, photos }: what was entered at a point and not confirmed yet: see `proofs.js`
//   kept    by name: the last state, and positions that could not be sent
import { database } from "../offline/database.js";

export const { read, write, keep, kept } = database("driver-app", {
  moves: { keyPath: "order", autoIncrement: true },
  photos: { keyPath: "id" },
  drafts: { keyPath: "key" },
});

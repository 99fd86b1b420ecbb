// What is entered at a point before the driver confirms it: the name of who received, and photos. Kept at once, because
// phones end pages while the camera is open.
import { read, write } from "./database.js";
import { store } from "./store.js";

export const draftKey = (deliveryId, point) => `${deliveryId} ${point}`;

/** { receivedBy, photos } as it was left at this point. `photos` are rows of the store of photos. */
export async function draft(deliveryId, point) {
  const found = await read("drafts", (drafts) => drafts.get(draftKey(deliveryId, point)));
  const photos = [];
  for (const id of found?.photos ?? []) {
    const photo = await read("photos", (store) => store.get(id));
    if (photo) photos.push(photo);
  }
  return { receivedBy: found?.receivedBy ?? "", photos };
}

/** Keep what was entered, with these photos and without the point's others. */
export async function keepDraft(deliveryId, point, { receivedBy, photos }) {
  await write(["drafts", "photos"], (drafts, store) => {
    for (const photo of photos) store.put(photo);
    drafts.put({ key: draftKey(deliveryId, point), receivedBy, photos: photos.map((photo) => photo.id) });
  });
}

/** Delete drafts of routes that the driver does not hold any more, and photos that nothing names. */
export async function tidy() {
  const held = store.state.route?.deliveryId;
  await write(["moves", "drafts", "photos"], (moves, drafts, photos) => {
    const got = (request, act) => { request.onsuccess = () => act(request.result); };
    got(moves.getAll(), (ofMoves) => got(drafts.getAll(), (all) => got(photos.getAllKeys(), (ids) => {
      const old = all.filter((each) => !held || !each.key.startsWith(`${held} `));
      const named = new Set([...ofMoves, ...all.filter((each) => !old.includes(each))].flatMap((each) => each.photos));
      for (const each of old) drafts.delete(each.key);
      for (const id of ids) if (!named.has(id)) photos.delete(id);
    })));
  });
}

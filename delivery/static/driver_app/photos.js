// Photos: taken with the phone's camera, made small, kept.
import { part, text } from "../offline/dom.js";

// A photo that does not get through in time is made smaller for the next try. Longest edge in pixels, JPEG quality, and
// the milliseconds that a try has: the smaller ones get through 16 kbit/s, which is what the service accepts.
const VERSIONS = [
  { edge: 1600, quality: 0.85, deadline: 60_000 },
  { edge: 1000, quality: 0.7, deadline: 120_000 },
  { edge: 640, quality: 0.6, deadline: 240_000 },
];
const MOST = 3;

function draw(canvas, image, longest) {
  const scale = Math.min(1, longest / Math.max(image.width, image.height));
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
}

/** The picture in a file as a JPEG, upright and no larger than this version. Rejects when it cannot be read. */
async function small(file, { edge, quality }) {
  const image = await createImageBitmap(file, { imageOrientation: "from-image" });
  const canvas = document.createElement("canvas");
  draw(canvas, image, edge);
  image.close();
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", quality); });
  return blob.arrayBuffer(); // not every browser can keep the blob itself
}

/** The milliseconds that a try to send the photo has. */
export const deadlineOf = ({ version = 0 }) => VERSIONS[version].deadline;

/** The photo in the next smaller version, or as it is when there is none. */
export async function smaller(photo) {
  const version = (photo.version ?? 0) + 1;
  if (version === VERSIONS.length) return photo;
  return { ...photo, version, bytes: await small(new Blob([photo.bytes], { type: "image/jpeg" }), VERSIONS[version]) };
}

async function preview(photo, remove) {
  const shown = part("photo", {}, { remove });
  const image = await createImageBitmap(new Blob([photo.bytes], { type: "image/jpeg" }));
  draw(shown.querySelector("canvas"), image, 480);
  image.close();
  return shown;
}

/**
 * What of a sheet takes photos: { element, fail, keepOnly }. `photos` changes; `changed` is called after each change.
 * `fail` shows what is wrong beside the button, `keepOnly` removes the photos that are not among these.
 */
export async function photoPart({ photos, required, place, changed }) {
  const element = part("photos", { required });
  const taken = element.querySelector(".taken");
  const problem = element.querySelector(".problem");
  const previews = new Map();
  const fail = (message) => {
    problem.textContent = message;
    if (message) problem.scrollIntoView({ block: "nearest" });
  };
  const label = () => {
    element.querySelector(".none").hidden = photos.length > 0;
    element.querySelector(".some").hidden = !photos.length;
  };
  const drop = (photo) => {
    photos.splice(photos.findIndex(({ id }) => id === photo.id), 1);
    previews.get(photo.id).remove();
    label();
  };
  const add = async (photo) => {
    const shown = await preview(photo, () => {
      drop(photo);
      changed();
    });
    previews.set(photo.id, shown);
    taken.append(shown);
    label();
  };
  label();
  for (const photo of [...photos]) await add(photo);
  const input = element.querySelector("input");
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (!file) return;
    fail("");
    if (photos.length >= MOST) {
      fail(text("error.photos"));
      return;
    }
    const takenAt = new Date().toISOString();
    let bytes;
    try {
      bytes = await small(file, VERSIONS[0]);
    } catch {
      fail(text("error.photo"));
      return;
    } finally {
      input.value = "";
    }
    const photo = { id: crypto.randomUUID(), bytes, takenAt, ...place };
    photos.push(photo);
    await changed();
    await add(photo);
  });
  const keepOnly = (kept) => {
    const ids = new Set(kept.map(({ id }) => id));
    for (const photo of [...photos]) if (!ids.has(photo.id)) drop(photo);
  };
  return { element, fail, keepOnly };
}

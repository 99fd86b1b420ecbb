// Photos: taken with the phone's camera, made small, kept.
import { part, text } from "./dom.js";

const LONGEST_EDGE = 1600; // pixels
const QUALITY = 0.85;
const MOST = 3;

function draw(canvas, image, longest) {
  const scale = Math.min(1, longest / Math.max(image.width, image.height));
  canvas.width = Math.max(1, Math.round(image.width * scale));
  canvas.height = Math.max(1, Math.round(image.height * scale));
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
}

/** The picture in a file as a JPEG, upright and 1600 pixels at most. Rejects when it cannot be read. */
async function small(file) {
  const image = await createImageBitmap(file, { imageOrientation: "from-image" });
  const canvas = document.createElement("canvas");
  draw(canvas, image, LONGEST_EDGE);
  image.close();
  const blob = await new Promise((resolve) => { canvas.toBlob(resolve, "image/jpeg", QUALITY); });
  return blob.arrayBuffer(); // not every browser can keep the blob itself
}

async function preview(photo, remove) {
  const shown = part("photo", {}, { remove: () => { shown.remove(); remove(photo); } });
  const image = await createImageBitmap(new Blob([photo.bytes], { type: "image/jpeg" }));
  draw(shown.querySelector("canvas"), image, 480);
  image.close();
  return shown;
}

/** The part of a sheet that takes photos. `photos` changes; `changed` is called after each, `fail` with what is wrong. */
export async function photoPart({ photos, required, place, changed, fail }) {
  const element = part("photos", { required });
  const taken = element.querySelector(".taken");
  const add = async (photo) => {
    taken.append(await preview(photo, () => {
      photos.splice(photos.indexOf(photo), 1);
      changed();
    }));
  };
  for (const photo of [...photos]) await add(photo);
  const input = element.querySelector("input");
  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (!file) return;
    if (photos.length >= MOST) {
      fail(text("error.photos"));
      return;
    }
    const takenAt = new Date().toISOString();
    let bytes;
    try {
      bytes = await small(file);
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
  return element;
}

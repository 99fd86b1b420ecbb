// Moves that the driver has made. Each is written to the phone before anything else, and sent in order until the
// service has answered. The service does a move once, however often it is sent: it knows the id that the phone gave it.
// Photos are sent beside them. A move waits for its photos, and lets pass what was done at other points meanwhile.
//
// A move: { order, id, driver, deliveryId, trigger, point, wasTried, code, reason, receivedBy, pin, left, photos, madeAt } and, once the
// service has refused it, { refused: { code, detail } }. `photos` are ids in the store of photos.
import { drained, repeated } from "../offline/sending.js";
import { Refused, Unreachable } from "../offline/server.js";
import { read, write } from "./database.js";
import { deadlineOf, smaller } from "./photos.js";
import { draftKey } from "./proofs.js";
import { accept, post, upload } from "./server.js";
import { onUpdate, store, update } from "./store.js";

// Milliseconds.
const ANSWERED = 5_000;
const PIN_CHECKED = 20_000; // with photos on a slow line: whether it is right, decides whether the order is handed over
const SLOW = 10_000; // a photo that failed after more than this was too large for the line

const now = () => new Date().toISOString();

async function refresh() {
  update({ moves: await read("moves", (moves) => moves.getAll()) });
}

const mine = () => store.moves.filter((move) => move.driver === store.state?.driver.id);

/** Moves of this driver that wait for an answer, in order. */
export const waiting = () => mine().filter((move) => !move.refused);
export const refused = () => mine().filter((move) => move.refused);
export const ofOthers = () => store.moves.filter((move) => store.state && move.driver !== store.state.driver.id && !move.refused);

/** Keep a move and begin to send it. Resolves to its id. Rejects when the phone cannot keep it. */
export async function add(move) {
  const whole = {
    id: crypto.randomUUID(), driver: store.state.driver.id, point: "", code: "", reason: "", receivedBy: "", pin: "", left: false, photos: [],
    madeAt: now(), ...move,
  };
  await write(["moves", "drafts"], (moves, drafts) => {
    moves.add(whole);
    drafts.delete(draftKey(whole.deliveryId, whole.point));
  });
  await refresh();
  sendAgain();
  return whole.id;
}

/**
 * What became of a move, as soon as it is known: the move with its refusal, or null when it is done or waits for a
 * connection. A driver is not kept waiting for more than some seconds, with a PIN not for more than some more.
 */
export function outcome(id, { pin = "" }) {
  return new Promise((resolve) => {
    let forget = null;
    const finish = (move) => {
      forget();
      resolve(move);
    };
    const look = () => {
      const move = store.moves.find((each) => each.id === id);
      if (!move || move.refused || !store.isReachable) finish(move?.refused ? move : null);
    };
    forget = onUpdate(look);
    setTimeout(() => finish(null), pin ? PIN_CHECKED : ANSWERED);
    look();
  });
}

/** Forget a move that was refused, when the driver has read why. Its photos stay for the next try. */
export async function dismiss(move) {
  await write("moves", (moves) => { moves.delete(move.order); });
  await refresh();
}

const sendMoves = drained("driver-moves", { refresh, ready, send: sendSome, refuse });

const sendPhotos = repeated("driver-photos", async () => {
  await refresh();
  for (const move of waiting()) {
    if (move.photos.length && await sendPhotosOf(move)) sendMoves();
  }
});

/** Send what waits. Resolves when the moves have been tried; photos may take minutes. */
export async function send() {
  sendPhotos();
  await sendMoves();
}

/** What "Try again" does, after the service has failed many times. */
export function sendAgain() {
  update({ isStuck: false });
  send();
}

/** The moves that can be sent now, in order. */
async function ready() {
  const found = [];
  const held = [];
  for (const move of waiting()) {
    const isHeld = held.some((each) => each.deliveryId !== move.deliveryId || !each.point || !move.point || each.point === move.point);
    if (isHeld || (await unsentPhotos(move)).length) held.push(move);
    else found.push(move);
  }
  return found;
}

async function unsentPhotos(move) {
  const photos = await Promise.all(move.photos.map((id) => read("photos", (all) => all.get(id))));
  return photos.filter((photo) => photo && !photo.isSent);
}

async function refuse(move, { code, detail }) {
  await settle([{ id: move.id, code, detail }], [move]);
}

async function sendSome(moves) {
  const answer = await post("moves/", { sentAt: now(), moves: moves.map(sent) });
  await settle(answer.outcomes, moves);
  await accept(answer);
}

function sent({ id, deliveryId, trigger, point, wasTried, code, reason, receivedBy, pin, left, photos, madeAt }) {
  return { id, deliveryId, trigger, point, wasTried, code, reason, receivedBy, pin, left, photos, madeAt };
}

/** False if a photo was refused, and the move with it: the driver reads why and takes another one. */
async function sendPhotosOf(move) {
  for (const photo of await unsentPhotos(move)) {
    const { deliveryId, point } = move;
    const query = new URLSearchParams({ id: photo.id, deliveryId, point, takenAt: photo.takenAt, sentAt: now() });
    const began = performance.now();
    try {
      await upload(`photos/?${query}`, photo.bytes, deadlineOf(photo));
    } catch (error) {
      if (error instanceof Unreachable && performance.now() - began > SLOW) await keepPhoto(await smaller(photo));
      if (!(error instanceof Refused) || error.status === 401) throw error;
      move.photos = move.photos.filter((each) => each !== photo.id);
      await write("photos", (photos) => { photos.delete(photo.id); });
      await refuse(move, { code: error.code, detail: error.message });
      return false;
    }
    await keepPhoto({ ...photo, isSent: true });
  }
  return true;
}

const keepPhoto = (photo) => write("photos", (photos) => { photos.put(photo); });

/** Write down what became of these moves. What belongs to a refused one is there again when the driver tries again. */
async function settle(outcomes, moves) {
  const outcome = new Map(outcomes.map((each) => [each.id, each]));
  await write(["moves", "photos", "drafts"], (all, photos, drafts) => {
    for (const move of moves) {
      const { done, code, detail } = outcome.get(move.id);
      if (done) {
        all.delete(move.order);
        for (const id of move.photos) photos.delete(id);
      } else {
        all.put({ ...move, refused: { code, detail } });
        const key = draftKey(move.deliveryId, move.point);
        if (move.point) drafts.put({ key, receivedBy: move.receivedBy, photos: move.photos });
      }
    }
  });
  await refresh();
}

// Moves that the driver has made. Each is written to the phone before anything else, and sent in order until the
// service has answered. The service does a move once, however often it is sent: it knows the id that the phone gave it.
//
// A move: { order, id, driver, deliveryId, trigger, point, reason, receivedBy, pin, photos, madeAt } and, once the
// service has refused it, { refused: { code, detail } }. `photos` are ids in the store of photos.
import { read, write } from "./database.js";
import { draftKey } from "./proofs.js";
import { Refused, Unreachable, accept, post, upload } from "./server.js";
import { store, update } from "./store.js";

const MOST_AT_ONCE = 50;
const LONGEST_PAUSE = 30_000; // milliseconds
const FIRST_PAUSE = 2_000;

const now = () => new Date().toISOString();

let pause = FIRST_PAUSE;
let timer = null;

async function refresh() {
  update({ moves: await read("moves", (moves) => moves.getAll()) });
}

const mine = () => store.moves.filter((move) => move.driver === store.state?.driver.id);

/** Moves of this driver that wait for an answer, in order. */
export const waiting = () => mine().filter((move) => !move.refused);
export const refused = () => mine().filter((move) => move.refused);
export const ofOthers = () => store.moves.filter((move) => store.state && move.driver !== store.state.driver.id && !move.refused);

/** Keep a move and begin to send it. Rejects when the phone cannot keep it. */
export async function add(move) {
  const whole = {
    id: crypto.randomUUID(), driver: store.state.driver.id, point: "", reason: "", receivedBy: "", pin: "", photos: [],
    madeAt: now(), ...move,
  };
  await write(["moves", "drafts"], (moves, drafts) => {
    moves.add(whole);
    drafts.delete(draftKey(whole.deliveryId, whole.point));
  });
  await refresh();
  send();
}

/** Forget a move that was refused, when the driver has read why. Its photos stay for the next try. */
export async function dismiss(move) {
  await write("moves", (moves) => { moves.delete(move.order); });
  await refresh();
}

/** Send what waits, now and again until everything is answered. Of several tabs one sends. */
export function send() {
  clearTimeout(timer);
  return navigator.locks.request("driver-moves", async () => {
    try {
      await refresh();
      while (waiting().length) await sendSome(batch(waiting()));
      pause = FIRST_PAUSE;
    } catch (error) {
      if (error instanceof Refused) return; // logged out: what waits is sent after the next log-in
      if (!(error instanceof Unreachable)) throw error;
      clearTimeout(timer);
      timer = setTimeout(send, pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE);
    }
  });
}

// A move with photos goes alone, so that those before it need not wait for them.
function batch(moves) {
  const withPhotos = moves.findIndex((move) => move.photos.length);
  return moves.slice(0, withPhotos < 0 ? MOST_AT_ONCE : Math.min(withPhotos || 1, MOST_AT_ONCE));
}

async function sendSome(moves) {
  for (const move of moves) {
    if (!await sendPhotos(move)) return;
  }
  let answer;
  try {
    answer = await post("moves/", { sentAt: now(), moves: moves.map(reported) });
  } catch (error) {
    if (!(error instanceof Refused) || error.status === 401) throw error;
    // One of them cannot be understood: which one, shows when each is sent alone.
    if (moves.length === 1) await settle([{ ...error, id: moves[0].id, detail: error.message }], moves);
    else for (const move of moves) await sendSome([move]);
    return;
  }
  await settle(answer.outcomes, moves);
  await accept(answer);
}

function reported({ id, deliveryId, trigger, point, reason, receivedBy, pin, photos, madeAt }) {
  return { id, deliveryId, trigger, point, reason, receivedBy, pin, photos, madeAt };
}

/** False if a photo was refused, and the move with it: the driver reads why and takes another one. */
async function sendPhotos(move) {
  for (const id of move.photos) {
    const photo = await read("photos", (photos) => photos.get(id));
    if (!photo) continue; // it arrived before
    const { deliveryId, point } = move;
    const query = new URLSearchParams({ id, deliveryId, point, takenAt: photo.takenAt, sentAt: now() });
    try {
      await upload(`photos/?${query}`, photo.bytes);
    } catch (error) {
      if (!(error instanceof Refused) || error.status === 401) throw error;
      move.photos = move.photos.filter((each) => each !== id);
      await write("photos", (photos) => { photos.delete(id); });
      await settle([{ id: move.id, code: error.code, detail: error.message }], [move]);
      return false;
    }
  }
  return true;
}

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

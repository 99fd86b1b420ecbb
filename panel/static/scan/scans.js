// What was scanned. Each scan is written to the device before anything else. The last one can be taken back until the
// next one, for five seconds at most; then it is sent, in order, until the service has answered. The service records a
// scan once, however often it is sent: it knows the id that the device gave it.
//
// A scan: { order, id, person, code, status, reasonCode, reason, place, seller, madeAt }, with `isSent` once it may have
// reached the service, and with its `outcome` once that has answered: { kind, code, detail, orderId, sellerName, now,
// sellers }. `kind` is "done", "already" (nothing had to be changed) or "refused".
import { play, vibrate } from "../offline/device.js";
import { drained } from "../offline/sending.js";
import { read, write } from "./database.js";
import { post } from "./server.js";
import { store, update } from "./store.js";

const HELD = 5_000; // milliseconds
const LISTED = 50; // of those that were done
const LONGEST = 255; // characters of a code
const REPEATED = 120_000; // milliseconds in which a second scan of a code is one too many, and not about the next parcel
// [seconds, hertz]: one high tone for what is recorded, two low ones for what is not.
const TAKEN = [[0, 1320]];
const NOT_TAKEN = [[0, 330], [0.25, 247]];

const now = () => new Date().toISOString();
const today = () => new Date().toLocaleDateString("en-CA");
const person = () => store.state?.person.id;
const compact = (code) => code.replaceAll(/[ .-]/gu, "").toUpperCase();

const mine = () => store.scans.filter((scan) => scan.person === person());

/** Scans of this person without an answer, in order. */
export const waiting = () => mine().filter((scan) => !scan.outcome);
export const refused = () => mine().filter((scan) => scan.outcome?.kind === "refused");
/** The last of this person, the newest first. */
export const listed = () => mine().slice(-LISTED).reverse();
export const unsentOfAll = () => store.scans.filter((scan) => !scan.outcome).length;
export const unsentOfOthers = () => unsentOfAll() - waiting().length;

// By id: scans that are being written, which `store.scans` has already.
const adding = new Map();
let current = null;
let next = null;

async function readAll() {
  const [scans, done] = [await read("scans", (all) => all.getAll()), await read("kept", (all) => all.get("done"))];
  const known = new Set(scans.map(({ id }) => id));
  const unwritten = [...adding.values()].map(({ scan }) => scan).filter(({ id }) => !known.has(id));
  update({ scans: [...scans, ...unwritten], done: done && done.person === person() && done.day === today() ? done.count : 0 });
}

/** Show what the device keeps. Calls during another one are one call after it. */
export function refresh() {
  if (current) {
    next ??= current.catch(() => null).then(() => {
      next = null;
      return refresh();
    });
    return next;
  }
  current = readAll().finally(() => { current = null; });
  return current;
}

function tell(tones, pattern) {
  if (store.hasSound) play(tones);
  vibrate(pattern);
}

export const tellRefused = () => tell(NOT_TAKEN, [200, 100, 200]);

/** Whether the move that was chosen still holds: of this person, today. */
export const hasMove = () => Boolean(store.move) && store.move.person === person() && store.move.day === today();

export const chosen = (values) => ({ ...values, person: person(), day: today() });

// The service says of the others whether something changes: a code may be read again on another day, after another device
// has moved the parcel, or for the next parcel of a code that several sellers use.
const isRepeated = (scan) => !scan.seller && Math.abs(age(scan)) < REPEATED;
const saysTheSame = (scan, move) => ["status", "reasonCode", "reason", "place"].every((name) => scan[name] === move[name]);

/**
 * Take what a reader has read: it is written at once, in the order of the calls. Rejects when the device cannot keep it.
 */
export async function take(text) {
  const code = text.replaceAll(/\p{Cc}/gu, "").trim();
  if (!code) return;
  if (!hasMove()) { // logged out, or a new day: the page says which
    update({});
    tellRefused();
    return;
  }
  if (code.length > LONGEST) {
    update({ last: { kind: "long", code: `${code.slice(0, 30)}…` } });
    tellRefused();
    return;
  }
  const { status, reasonCode, reason, place } = store.move;
  const same = mine().findLast((scan) => compact(scan.code) === compact(code) && scan.outcome?.kind !== "refused");
  if (same && same.code === code && saysTheSame(same, store.move) && isRepeated(same)) {
    update({ last: { kind: "again", id: same.id, code } });
    tellRefused();
    return;
  }
  const scan = { id: crypto.randomUUID(), person: person(), code, status, reasonCode, reason, place, seller: "", madeAt: now() };
  const written = write("scans", (scans) => scans.add(scan));
  adding.set(scan.id, { scan, written });
  update({ scans: [...store.scans, scan], last: { kind: "scan", id: scan.id, code } });
  try {
    await written;
    tell(TAKEN, 60); // from now on a reload loses nothing
  } finally {
    adding.delete(scan.id);
    await refresh();
  }
  sendAgain(); // those before it
}

const age = (scan) => Date.now() - Date.parse(scan.madeAt);
// A clock that was set back does not hold it longer.
const isHeld = (scan) => !document.hidden && !scan.isSent && age(scan) >= 0 && age(scan) < HELD;

/** The scan that the page shows as the last one; none if what was done last changed nothing. */
export const shown = () => (store.last?.kind === "scan" ? mine().find(({ id }) => id === store.last.id) : undefined);

/** Show what waits as the last scan, when the page has been opened again. */
export function showLast() {
  const last = waiting().at(-1);
  if (last) update({ last: { kind: "scan", id: last.id, code: last.code } });
}

/** The last scan, if it can be taken back still. */
function undoable() {
  const last = shown();
  return last && last === mine().at(-1) && !last.outcome && !last.isSent ? last : null;
}

/** Take the last scan back. Resolves to whether it had not been sent. */
export async function undo() {
  await Promise.all([...adding.values()].map(({ written }) => written));
  await refresh();
  const last = undoable();
  if (!last) return false;
  let isGone = false;
  await write("scans", (scans) => {
    const request = scans.get(last.order);
    request.onsuccess = () => {
      if (!request.result || request.result.isSent) return;
      scans.delete(last.order);
      isGone = true;
    };
  });
  if (isGone) update({ last: { kind: "undone", code: last.code } });
  await refresh();
  return isGone;
}

/** Forget a scan that was refused, when its person has read why. */
export async function dismiss(scan) {
  await write("scans", (scans) => { scans.delete(scan.order); });
  await refresh();
}

/** Send a scan of a code that several sellers use again, as the code of this one. */
export async function choose(scan, seller) {
  const { order, outcome, ...again } = scan;
  const id = crypto.randomUUID();
  await write("scans", (scans) => {
    scans.delete(order);
    scans.add({ ...again, id, isSent: false, seller });
  });
  update({ last: { kind: "scan", id, code: scan.code } });
  await refresh();
  sendAgain();
}

let timer = null;

/** What can be sent now. What is held is sent when its time is over. */
function ready() {
  const found = waiting().filter(({ order }) => order !== undefined); // that are written
  if (found.length && isHeld(found.at(-1))) {
    clearTimeout(timer);
    timer = setTimeout(send, HELD - age(found.pop()));
  }
  return found;
}

export const send = drained("scans", { refresh, ready, send: sendSome, refuse });

/** Send what waits, also after the service has failed many times. */
export function sendAgain() {
  update({ isStuck: false });
  send();
}

async function sendSome(scans) {
  const present = await marked(scans);
  if (present.length) {
    const answer = await post("movements/", { sentAt: now(), person: present[0].person, movements: present.map(sent) });
    await settle(answer.outcomes, present);
  } else {
    await refresh();
  }
}

async function refuse(scan, { code, detail }) {
  await settle([{ id: scan.id, kind: "refused", code, detail }], [scan]);
}

/** Those of these scans that were not taken back meanwhile. From now on they cannot be. */
async function marked(scans) {
  const present = [];
  await write("scans", (all) => {
    for (const scan of scans) {
      const request = all.get(scan.order);
      request.onsuccess = () => {
        if (!request.result) return;
        present.push(scan);
        all.put({ ...request.result, isSent: true });
      };
    }
  });
  return present;
}

function sent({ id, code, status, reasonCode, reason, place, seller, madeAt }) {
  return { id, code, status, reasonCode, reason, place, seller, scannedAt: madeAt };
}

/** Write down what became of these scans, and forget the oldest that were done. */
async function settle(outcomes, scans) {
  const found = new Map(outcomes.map(({ id, ...outcome }) => [id, outcome]));
  const done = outcomes.filter(({ kind }) => kind === "done").length;
  const who = scans[0].person;
  await write(["scans", "kept"], (all, kept) => {
    for (const scan of scans) all.put({ ...scan, isSent: true, outcome: found.get(scan.id) });
    const counted = kept.get("done");
    counted.onsuccess = () => {
      const before = counted.result;
      const isOfToday = before?.person === who && before.day === today();
      kept.put({ person: who, day: today(), count: done + (isOfToday ? before.count : 0) }, "done");
    };
    const kind = all.getAll();
    kind.onsuccess = () => {
      const ended = kind.result.filter(({ outcome }) => outcome && outcome.kind !== "refused");
      for (const scan of ended.slice(0, -LISTED)) all.delete(scan.order);
    };
  });
  await refresh();
  if (outcomes.some(({ kind }) => kind === "refused")) tellRefused();
}

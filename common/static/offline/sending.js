// How what waits on the device is sent: again until the service has answered.
import { Refused, Unreachable, isAboutLogIn } from "./server.js";
import { store, update } from "./store.js";

const MOST_AT_ONCE = 50; // that one call takes
// Milliseconds.
const FIRST_PAUSE = 2_000;
const LONGEST_PAUSE = 30_000;
const LONGEST_PAUSE_OF_FAULTS = 300_000;
const MOST_FAULTS = 12; // in a row: in about 20 minutes

/**
 * A function that does this work, now and again until it succeeds. Of several tabs one does it. Without a signal it is
 * tried for ever. When the service fails at it, the pauses grow, and in the end the page tells so and people decide.
 */
export function repeated(name, work) {
  let pause = FIRST_PAUSE;
  let faults = 0;
  let rests = false; // after a fault nothing but the end of the pause begins it again
  let timer = null;
  let next = null; // the run that waits for another one's end
  const again = (isFault) => {
    faults += isFault ? 1 : 0;
    if (faults === MOST_FAULTS) {
      faults = 0;
      pause = FIRST_PAUSE;
      update({ isStuck: true });
      return;
    }
    rests = isFault;
    clearTimeout(timer);
    timer = setTimeout(() => { rests = false; run(); }, pause);
    pause = Math.min(2 * pause, isFault ? LONGEST_PAUSE_OF_FAULTS : LONGEST_PAUSE);
  };
  const run = () => {
    if (rests || store.isStuck) return null;
    next ??= navigator.locks.request(name, async () => {
      next = null; // what comes from now on may be too late for this one
      if (rests || store.isStuck) return; // the run before it has failed meanwhile
      clearTimeout(timer);
      try {
        await work();
        pause = FIRST_PAUSE;
        faults = 0;
      } catch (error) {
        if (error instanceof Refused) return; // logged out: what waits is sent after the next log-in
        again(error instanceof Unreachable && error.isFault);
        if (!(error instanceof Unreachable)) throw error; // the device's own, such as of its database
      }
    });
    return next;
  };
  return run;
}

/**
 * A function that sends what waits, in order and in portions, as `repeated` has it. `refresh` reads it from the device, `ready`
 * returns what can be sent now, the oldest first; `send` and `refuse` are those of `sendTogether`.
 */
export function drained(name, { refresh, ready, send, refuse }) {
  return repeated(name, async () => {
    await refresh();
    for (let items = await ready(); items.length; items = await ready()) await sendTogether(items.slice(0, MOST_AT_ONCE), send, refuse);
  });
}

/**
 * Send these in one call of `send`. When the service cannot understand one of them, which one shows when each is sent
 * alone: `refuse` is called with it and with why. Throws Unreachable, and Refused when nobody is logged in.
 */
async function sendTogether(items, send, refuse) {
  try {
    await send(items);
  } catch (error) {
    if (!(error instanceof Refused) || isAboutLogIn(error)) throw error;
    if (items.length === 1) await refuse(items[0], { code: error.code, detail: error.message });
    else for (const item of items) await sendTogether([item], send, refuse);
  }
}

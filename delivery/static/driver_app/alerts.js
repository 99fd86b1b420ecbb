// What drivers notice without looking: a sound for a new offer, and a screen that stays on during a route.
import { store } from "./store.js";

let known = null; // ids of the offers that were there before
let audio = null;
let lock = null;
let isAsking = false;

// Browsers allow sound after a first touch of the page.
addEventListener("pointerdown", () => {
  audio ??= new AudioContext();
  if (audio.state === "suspended") audio.resume();
}, true);

function beep() {
  for (const [delay, pitch] of [[0, 880], [0.25, 1175], [0.5, 880], [0.75, 1175]]) {
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    const start = audio.currentTime + delay;
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.5, start);
    volume.gain.exponentialRampToValueAtTime(0.001, start + 0.22);
    tone.connect(volume).connect(audio.destination);
    tone.start(start);
    tone.stop(start + 0.22);
  }
}

/** Sound and vibration if there is an offer that was not there before. */
export function announceOffers() {
  if (!store.state) return;
  const ids = store.state.offers.map((offer) => offer.deliveryId);
  if (known && ids.some((id) => !known.has(id))) {
    if (audio) beep();
    if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.([300, 150, 300]);
  }
  known = new Set(ids);
}

/** Keep the screen on while the driver holds a route, where the browser can. */
export async function keepScreenOn() {
  const wanted = Boolean(store.state?.route) && !document.hidden;
  if (!wanted && lock) {
    await lock.release();
    lock = null;
  }
  if (!wanted || isAsking || (lock && !lock.released) || !navigator.wakeLock) return;
  isAsking = true;
  try {
    lock = await navigator.wakeLock.request("screen");
  } catch (error) {
    if (error.name !== "NotAllowedError") throw error; // the phone saves energy, or the page was hidden meanwhile
  } finally {
    isAsking = false;
  }
}

document.addEventListener("visibilitychange", keepScreenOn);

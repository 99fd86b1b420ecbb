// What people notice without looking: sounds, and a screen that stays on.

let audio = null;
let lock = null;
let isAsking = false;
let isWanted = false;

// Browsers allow sound after a first touch of the page, or a key.
for (const touch of ["pointerdown", "keydown"]) {
  addEventListener(touch, () => {
    audio ??= new AudioContext();
    if (audio.state === "suspended") audio.resume();
  }, true);
}

/** Tones after each other: [seconds from now, hertz]. Without a touch of the page before, none. */
export function play(tones) {
  if (!audio) return;
  for (const [delay, pitch] of tones) {
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

export function vibrate(pattern) {
  if (navigator.userActivation?.hasBeenActive) navigator.vibrate?.(pattern);
}

/** Keep the screen on, or not any more, where the browser can. */
export async function keepScreenOn(isOn) {
  isWanted = isOn;
  const wanted = isOn && !document.hidden;
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

document.addEventListener("visibilitychange", () => keepScreenOn(isWanted));

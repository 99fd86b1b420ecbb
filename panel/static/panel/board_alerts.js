// New offers and offers that are about to end: a number in the title of the page, and a sound if it is switched on.
"use strict";

(() => {
  const EXPIRING_SECONDS = 300;
  const button = document.getElementById("sound");
  const title = document.title;
  let known = null; // ids of the alerts that were announced
  let audio = null;

  const hasSound = () => localStorage.getItem("board-sound") === "on";
  function showState() {
    button.setAttribute("aria-pressed", String(hasSound()));
    button.title = hasSound() ? button.dataset.on : button.dataset.off;
  }
  showState();
  button.addEventListener("click", () => {
    localStorage.setItem("board-sound", hasSound() ? "off" : "on");
    showState();
    if (hasSound()) beep();
  });

  // Browsers allow sound after a click on the page; before it, this does nothing.
  function beep() {
    audio ??= new AudioContext();
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    volume.gain.setValueAtTime(0.15, audio.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + 0.5);
    tone.frequency.value = 880;
    tone.connect(volume).connect(audio.destination);
    tone.start();
    tone.stop(audio.currentTime + 0.5);
  }

  function update() {
    const now = Date.now() / 1000;
    const offers = [...board.routes.values()].filter((route) => route.expires);
    const alerts = new Set(offers.map((route) => (route.expires - now < EXPIRING_SECONDS ? `${route.id} expiring` : route.id)));
    if (known && hasSound() && [...alerts].some((alert) => !known.has(alert))) beep();
    if (known || board.routes.size) known = new Set([...(known ?? []), ...alerts]);
    const text = offers.length ? `(${offers.length}) ${title}` : title;
    if (document.title !== text) document.title = text;
  }
  board.changed.push(update);
  setInterval(update, 5000);
})();

// The last hour on the map of the dispatch board. Meanwhile the map shows nothing of now; the list does.
"use strict";

{
  const bar = document.getElementById("playback");
  const open = document.getElementById("play-hour");
  const slider = document.getElementById("playback-minute");
  const play = document.getElementById("playback-play");
  const MINUTE = 60;
  const STEP = 400; // milliseconds that a minute takes
  let hour = null; // what the service has answered
  let timer = null;

  const latest = (rows, at) => rows.findLast(([moment]) => moment <= at);
  function show() {
    const at = hour.from + Number(slider.value) * MINUTE;
    const text = board.time(at);
    document.getElementById("playback-time").textContent = text;
    slider.setAttribute("aria-valuetext", text);
    board.replay(hour.drivers.flatMap((driver) => {
      const place = latest(driver.track, at);
      return place ? [{ ...driver, lat: place[1], lng: place[2], status: latest(driver.statuses, at)?.[1] ?? "" }] : [];
    }));
  }
  function run(is) {
    clearInterval(timer);
    timer = is ? setInterval(step, STEP) : null;
    play.setAttribute("aria-pressed", String(is));
    play.textContent = is ? play.dataset.pause : play.dataset.play;
  }
  function step() {
    if (slider.value === slider.max) return run(false);
    slider.stepUp();
    show();
  }

  board.playHour = async () => {
    hour = await board.read(board.words.playback);
    if (!hour) return;
    bar.hidden = false;
    open.hidden = true;
    const first = Math.min(...hour.drivers.map(({ track: [[moment]] }) => moment)); // without drivers endless
    slider.value = first < hour.to ? Math.ceil((first - hour.from) / MINUTE) : slider.max;
    document.getElementById("playback-nobody").hidden = hour.drivers.length > 0;
    show();
    slider.focus();
    run(true);
  };
  play.addEventListener("click", () => {
    if (!timer && slider.value === slider.max) slider.value = 0;
    run(!timer);
  });
  slider.addEventListener("input", () => { run(false); show(); });
  function close() {
    run(false);
    bar.hidden = true;
    open.hidden = false;
    hour = null;
    board.replay(null);
    open.focus();
  }
  document.getElementById("playback-close").addEventListener("click", close);
  bar.addEventListener("keydown", (event) => { if (event.key === "Escape") { event.stopPropagation(); close(); } });
}

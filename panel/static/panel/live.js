// Tells a page what has changed, by Server-Sent Events. Without a stream it loads what it shows every ten seconds.
//
//   rota.live(address, changed, { hidden: true, content: show })
//
// calls changed(ids, message) with a Set of ids, such as "delivery:<id>" (see delivery/page_updates.py), and the name of
// the message, by which the service knows which pages ask for the same; or with null when anything may have changed: at
// the beginning, unless nothing has changed since the version of the page in the address, after each interruption, and
// while there is no stream. content(found) is called with what the page would ask for otherwise, where the service sends
// it in place of the ids. With `hidden` it goes on while the page is
// hidden; otherwise the stream is closed then, because browsers allow six connections to a server, all tabs together,
// over HTTP/1.1.
//
// In HTML: templates/panel/live.html. The event `live` is triggered on it for one of the ids that its child #live-ids
// has, for any if it has none, and when anything may have changed.
"use strict";

window.rota = window.rota || {};

// What is replaced between the press of the mouse and its release is not clicked.
{
  const LONGEST = 2_000; // milliseconds: a release outside of the window may not be told
  let pressed = 0; // since when
  const waiting = [];
  const release = () => {
    pressed = 0;
    for (const go of waiting.splice(0)) go();
  };
  addEventListener("pointerdown", ({ isPrimary, button }) => { if (isPrimary && button === 0) pressed = Date.now(); }, true);
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(release), true); // after the click

  rota.isPressed = () => Date.now() - pressed < LONGEST;
  // Resolves when nothing is pressed.
  rota.released = () => new Promise((go) => {
    if (!rota.isPressed()) return go();
    waiting.push(go);
    setTimeout(go, LONGEST);
  });
}

{
  const POLL = 10_000; // milliseconds, like all below
  const REFRESH = 60_000; // with a stream: a message can be lost, and times on the page grow old
  const CHECK = 5_000;
  const SILENCE = 40_000; // the server sends a sign of life every 15 s
  const AGAIN = 30_000;

  class Updates {
    constructor(address, changed, hidden, content) {
      Object.assign(this, { address, changed, hidden, content, source: null, ready: false, heard: 0, told: Date.now(), opened: 0, tick: Date.now() });
      document.addEventListener("visibilitychange", () => this.look());
      window.addEventListener("pagehide", () => this.close());
      window.addEventListener("pageshow", (event) => { if (event.persisted) this.look(); });
      window.addEventListener("online", () => this.open());
      setInterval(() => this.check(), CHECK);
      this.look();
    }

    get wanted() { return this.hidden || !document.hidden; }

    look() {
      if (!this.wanted) this.close();
      else if (!this.source) this.open();
    }

    open() {
      this.close();
      this.heard = this.opened = Date.now();
      const source = this.source = new EventSource(this.address);
      const on = (name, act) => source.addEventListener(name, (event) => {
        if (source !== this.source) return;
        this.heard = Date.now();
        act(event);
      });
      on("ready", ({ data }) => { this.ready = true; if (data !== "same") this.tell(null); });
      on("away", () => { this.ready = false; this.tell(null); });
      on("beat", () => {});
      on("message", (event) => { const ids = new Set(event.data.split(" ")); this.tell(ids.has("*") ? null : ids, event.lastEventId); });
      on("content", ({ data, lastEventId }) => this.content(JSON.parse(data), lastEventId));
      on("error", () => { this.ready = false; }); // the browser connects again, unless the answer was no stream
    }

    close() {
      if (this.source) this.source.close();
      this.source = null;
      this.ready = false;
    }

    tell(ids, message) {
      if (!ids) this.told = Date.now();
      this.changed(ids, message);
    }

    check() {
      const now = Date.now();
      const slept = Math.abs(now - this.tick) > 4 * CHECK; // or its clock was set
      this.tick = now;
      if (!this.wanted) return;
      const closed = !this.source || this.source.readyState === EventSource.CLOSED;
      if (slept || (closed ? now - this.opened > AGAIN : now - this.heard > SILENCE)) this.open();
      if (slept || now - this.told >= (this.ready ? REFRESH : POLL)) this.tell(null);
    }
  }

  rota.live = (address, changed, { hidden = false, content } = {}) => new Updates(address, changed, hidden, content);

  // The element of templates/panel/live.html: at most one event a second, and none while somebody works in its parts.
  const PAUSE = 1_000;
  const element = document.querySelector("[data-live]");
  let wanted = false;
  let timer = null;

  const parts = () => element.getAttribute("hx-select-oob").split(",").map((id) => document.querySelector(id)).filter(Boolean);
  const isBusy = () => rota.isPressed() || parts().some((part) => part.querySelector(
    "input[type=checkbox]:checked, dialog[open], textarea:focus, select:focus, input:not([type=checkbox]):focus"));

  function load() {
    timer = null;
    if (!wanted) return;
    timer = setTimeout(load, PAUSE);
    if (isBusy()) return;
    wanted = false;
    htmx.trigger(element, "live");
  }

  function concerns(ids) {
    const own = document.getElementById("live-ids").textContent.split(" ").filter(Boolean);
    return !ids || !own.length || own.some((id) => ids.has(id));
  }

  if (element) {
    element.addEventListener("htmx:beforeSwap", ({ detail }) => {
      if (!rota.isPressed()) return;
      detail.shouldSwap = false;
      wanted = true;
      timer = timer || setTimeout(load, PAUSE);
    });
    document.addEventListener("DOMContentLoaded", () => rota.live(element.dataset.live, (ids) => {
      wanted = wanted || concerns(ids);
      timer = timer || setTimeout(load, 50 + 200 * Math.random()); // not all browsers at once
    }));
  }

  // Parts that are the same stay, with what was scrolled and unfolded there. In the others the focus stays at its place.
  const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";
  const text = (node) => node.outerHTML.replace(/(name="csrfmiddlewaretoken" value=")[^"]*/g, "$1");
  document.addEventListener("htmx:oobBeforeSwap", (event) => {
    const { target, fragment } = event.detail;
    if (text(target) === text(fragment.firstElementChild)) event.detail.shouldSwap = false;
    const place = [...target.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
    if (place < 0 || !event.detail.shouldSwap) return;
    setTimeout(() => {
      const again = document.getElementById(target.id)?.querySelectorAll(FOCUSABLE)[place];
      if (again) again.focus({ preventScroll: true });
    });
  });
}

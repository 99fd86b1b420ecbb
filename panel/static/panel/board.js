// The dispatch board: what is known of the routes, kept up to date. board_list.js and board_map.js show it.
"use strict";

const words = document.getElementById("board").dataset;
// Writes seconds since 1970 in a time zone: that of a route's place, else the service's.
const inZone = (parts) => {
  const formats = {};
  return (seconds, zone) => {
    const timeZone = zone ? zone[0] : words.timeZone;
    formats[timeZone] ??= new Intl.DateTimeFormat(document.documentElement.lang, { ...parts, timeZone });
    return formats[timeZone].format(seconds * 1000);
  };
};
const board = {
  words,
  routes: new Map(), // id -> a route as panel/dispatch/board.py describes it
  free: [], // drivers
  chosen: "", // id of a route
  wanted: new URLSearchParams(location.search).get("route"), // the one that is chosen at first
  tab: new URLSearchParams(location.search).get("tab"),
  shop: new URLSearchParams(location.search).get("shop") ?? "", // id of an account, or all
  sent: new Map(), // id of a route -> when the service has sent it; what was asked for before is older
  matching: null, // ids that the search has found, or null without a search
  ways: new Map(), // id of a route -> its way by road, where there is a routing engine
  changed: [], // functions that show a change of the above
  leaving: [], // functions to call before the page is left for the log-in

  late: (route) => route.due * 1000 < Date.now(),

  // The routes of a tab, an element with `data-tab`. A search finds scheduled ones too.
  inTab({ dataset: { tab, status } }) {
    const ofShop = [...board.routes.values()].filter((route) => !board.shop || route.account === board.shop);
    if (tab === "late") return ofShop.filter(board.late);
    return ofShop.filter((route) => (status ? route.status === status : route.status !== "SCHEDULED" || board.matching || route.id === board.chosen));
  },

  // The routes of the chosen tab and the search, those that are due first at the top.
  shown() {
    const tab = document.querySelector(`[data-tab="${board.tab}"]`);
    const found = board.inTab(tab).filter((route) => !board.matching || board.matching.has(route.id));
    return found.sort((one, other) => one.due - other.due || (one.id < other.id ? -1 : 1));
  },

  // A route that has ended, or that the tab, the shop or the search leaves out, is not chosen any more.
  show() {
    if (board.chosen && !board.shown().some((route) => route.id === board.chosen)) {
      board.chosen = "";
      board.keepAddress();
    }
    for (const function_ of board.changed) function_();
  },

  // The address bar keeps what is chosen and searched.
  keepAddress() {
    const query = new URLSearchParams(location.search);
    for (const [name, value] of Object.entries({ tab: board.tab === "all" ? "" : board.tab, shop: board.shop, route: board.chosen, q: find.value.trim() })) {
      if (value) query.set(name, value);
      else query.delete(name);
    }
    history.replaceState(null, "", `${location.pathname}${query.size ? `?${query}` : ""}`);
  },

  choose(id, { scroll = false, fit = false } = {}) {
    board.chosen = board.chosen === id ? "" : id;
    if (board.chosen && !board.shown().some((route) => route.id === id)) board.showAll();
    else board.keepAddress();
    board.show();
    if (board.chosen && scroll) board.reveal(id);
    if (board.chosen && fit) board.fit(id);
    if (board.chosen && board.words.way && !board.ways.has(id)) board.readWay(id);
  },

  // Chooses the route that the address of the page names. One that has ended is searched for.
  open(id) {
    board.wanted = null;
    if (board.routes.has(id)) return board.choose(id, { scroll: true, fit: true });
    find.value = id;
    return board.search().then(board.show);
  },

  async readWay(id) {
    board.ways.set(id, null); // asked for once
    const found = await board.read(board.words.way.replace(/0{8}-[0-]+/, id));
    board.ways.set(id, found?.way.length ? found.way : null);
    board.show();
  },

  // "9 min", "1 h 04": seconds as a person says them.
  duration(seconds) {
    const minutes = Math.floor(seconds / 60);
    if (seconds < 60) return board.words.seconds.replace("%s", Math.floor(seconds));
    if (minutes < 60) return board.words.minutes.replace("%s", minutes);
    return board.words.hours.replace("%s", Math.floor(minutes / 60)).replace("%s", String(minutes % 60).padStart(2, "0"));
  },

  // "09:55"; after twelve hours with the day.
  time: inZone({ hour: "2-digit", minute: "2-digit", hourCycle: "h23" }),
  day: inZone({ day: "2-digit", month: "2-digit" }),
  moment: (seconds, zone) => (Math.abs(seconds - Date.now() / 1000) < 43_200 ? "" : `${board.day(seconds, zone)} `) + board.time(seconds, zone),

  // On a phone: "list", "map" or "drivers".
  view(name) {
    document.getElementById("board").dataset.shown = name;
    for (const button of document.querySelectorAll("[data-view]")) button.setAttribute("aria-pressed", String(button.dataset.view === name));
    if (board.chosen) board.reveal(board.chosen);
  },

  // JSON of an address of this service, or null if there is none now. Shows whether the connection is there.
  async read(address) {
    try {
      const headers = { "HX-Request": "true", "HX-Current-URL": location.href };
      const answer = await fetch(address, { headers, signal: AbortSignal.timeout(20000) });
      if (answer.headers.has("HX-Redirect")) board.leave(answer.headers.get("HX-Redirect"));
      if (!answer.ok) throw new Error(answer.status);
      const found = await answer.json();
      await rota.released();
      board.connected(true);
      return found;
    } catch {
      board.connected(false);
      return null;
    }
  },

  // To the log-in, after the session has ended.
  leave(address) {
    for (const function_ of board.leaving) function_();
    location.assign(address);
  },

  // Whether the script board_<name>.js is there, which its first use loads, with its styles. Without a connection it is not, and the next use tries again.
  scripts: {},
  has(name) {
    board.scripts[name] ??= new Promise((done) => {
      const script = Object.assign(document.createElement("script"), { src: board.words[`${name}Script`] });
      script.onload = () => done(true);
      script.onerror = () => {
        delete board.scripts[name];
        board.connected(false);
        done(false);
      };
      const href = board.words[`${name}Style`];
      document.head.append(script, ...(href ? [Object.assign(document.createElement("link"), { rel: "stylesheet", href })] : []));
    });
    return board.scripts[name];
  },

  lastAnswer: new Date(),
  connected(is) {
    const place = document.getElementById("offline");
    if (is) board.lastAnswer = new Date();
    else place.textContent = board.words.away.replace("%s", board.time(board.lastAnswer / 1000));
    place.hidden = is;
  },
};

// Reads everything. Calls while one is under way share one more read after it, so that it includes their change.
board.refresh = (() => {
  let reading = null;
  let again = null;
  let first = true; // the first time with the cards that are seen first
  const read = async () => {
    const began = performance.now();
    const found = await board.read(board.searching(first ? withCards(board.words.routes) : board.words.routes));
    if (!found) return;
    first = false;
    const before = board.routes;
    board.routes = new Map(found.routes.map((route) => [route.id, route]));
    for (const [id, at] of board.sent) {
      delete found.cards[id];
      if (at < began) board.sent.delete(id);
      else if (before.has(id)) board.routes.set(id, before.get(id));
      else board.routes.delete(id);
    }
    board.free = found.free;
    board.showGoods(found.goods);
    board.keep(found.cards);
    board.matches(found.found);
    board.show();
    if (board.wanted) board.open(board.wanted);
  };
  const withCards = (address) => {
    const { tab, status } = document.querySelector(`[data-tab="${board.tab}"]`).dataset;
    return `${address}&first=${tab === "late" ? tab : status}&shop=${encodeURIComponent(board.shop)}`;
  };
  return () => {
    if (!reading) return (reading = read().finally(() => { reading = null; }));
    again ??= reading.then(() => { again = null; return board.refresh(); });
    return again;
  };
})();

// Shows what drivers have of routes that are not theirs any more.
board.showGoods = (() => {
  const place = document.getElementById("goods");
  let shown = "";
  return (html) => {
    if (html === shown) return;
    place.innerHTML = shown = html; // of this service
    place.hidden = !html;
    htmx.process(place);
  };
})();

// Reads these routes with their cards, at most data-most-cards of them. `told`: by id, the name of the message about it.
board.refreshSome = async (ids, told = new Map()) => {
  const named = ids.map((id) => (told.has(id) ? `${id}:${told.get(id)}` : id));
  const began = performance.now();
  const found = await board.read(board.searching(`${board.words.cards}&ids=${named.join(",")}`));
  if (found) board.showSome(ids, found, began);
};

// Shows these routes, of which `found` has those that are in progress; none that the service has sent since `began`.
board.showSome = (all, found, began) => {
  const ids = all.filter((id) => !(board.sent.get(id) >= began));
  for (const id of ids) board.routes.delete(id);
  for (const route of found.routes) if (ids.includes(route.id)) board.routes.set(route.id, route);
  board.showGoods(found.goods);
  board.keep(Object.fromEntries(Object.entries(found.cards).filter(([id]) => ids.includes(id))));
  board.matches(found.found, ids);
  board.show();
};

// Reads where the drivers of these routes are; without ids, of all routes, and the free drivers.
board.refreshPositions = async (ids) => {
  const found = await board.read(ids ? `${board.words.positions}&ids=${ids.join(",")}` : board.words.positions);
  if (!found) return;
  board.free = found.free ?? board.free;
  for (const [id, place] of Object.entries(found.positions)) {
    const route = board.routes.get(id);
    if (route?.driver) Object.assign(route.driver, place);
  }
  board.show();
};

// The search runs on the server, which has the texts of all routes. What is read meanwhile is searched along with it.
const find = document.getElementById("find");
const ended = document.getElementById("ended"); // what the search has found of it
let searched = ""; // the text of the newest answer
board.searching = (address) => (searched ? `${address}&q=${encodeURIComponent(searched)}` : address);
// Notes which routes match `searched`: of all routes, or of those with `ids`. `found` is null without a search.
board.matches = (found, ids) => {
  if (!found || !searched) return;
  if (!ids || !board.matching) board.matching = new Set();
  else for (const id of ids) board.matching.delete(id);
  for (const id of found) board.matching.add(id);
};
board.search = async () => {
  const text = find.value.trim();
  const found = text && await board.read(`${board.words.search}&q=${encodeURIComponent(text)}`);
  if (text !== find.value.trim() || found === null) return;
  searched = text;
  board.matching = text ? new Set(found.ids) : null;
  ended.innerHTML = text ? found.ended : ""; // of this service
  ended.hidden = !ended.innerHTML;
  board.keepAddress();
};
let typing;
find.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(async () => { await board.search(); board.show(); }, 200);
});

board.showAll = () => {
  find.value = searched = board.shop = ended.innerHTML = "";
  ended.hidden = true;
  board.matching = null;
  board.tab = "all";
  board.keepAddress();
};
document.getElementById("show-all").addEventListener("click", () => { board.showAll(); board.show(); });
const tabs = [...document.querySelectorAll("[data-tab]")];
if (!tabs.some((tab) => tab.dataset.tab === board.tab)) board.tab = "all";
for (const tab of tabs) {
  tab.addEventListener("click", () => { board.tab = tab.dataset.tab; board.keepAddress(); board.show(); });
}

// The shops that have routes, and the one that is chosen.
const shop = document.getElementById("shop");
shop.addEventListener("change", () => { board.shop = shop.value; board.keepAddress(); board.show(); });
board.changed.push(() => {
  const names = new Map([...board.routes.values()].map((route) => [route.account, route.shop]));
  if (board.shop && !names.has(board.shop)) names.set(board.shop, shop.querySelector(`[value="${CSS.escape(board.shop)}"]`)?.text ?? "…");
  const options = [...names].sort(([, one], [, other]) => one.localeCompare(other)).map(([id, name]) => new Option(name, id));
  if (String(options.map(({ text }) => text)) !== String([...shop.options].slice(1).map(({ text }) => text))) shop.replaceChildren(shop.options[0], ...options);
  shop.value = board.shop;
  shop.hidden = names.size < 2 && !board.shop;
});

// The parts of the board that are loaded when they are first used.
for (const button of document.querySelectorAll("#show-drivers, [data-view=drivers]")) {
  button.addEventListener("click", async () => { if (await board.has("drivers")) board.toggleDrivers(button); });
}
document.addEventListener("change", async ({ target }) => { if (target.matches(".pick") && await board.has("several")) board.pick(target); });
document.addEventListener("click", async ({ target }) => {
  const button = target.closest("[data-picks]");
  if (button && await board.has("picker")) board.pickPosition(button);
});

for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => board.view(button.dataset.view));
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && board.chosen && !document.querySelector("dialog[open]")) board.choose(board.chosen);
});

// What the service tells of changes is read together after a pause, positions after a longer one.
{
  const PAUSE = 300; // milliseconds, like all below
  const POSITIONS_PAUSE = 3000;
  const FREE_DRIVERS = 15_000; // nothing tells of their moves
  let changed = new Map(); // id of a delivery -> the name of the newest message about it
  let moved = new Set(); // ids of deliveries whose drivers have moved
  let allMoved = false;
  let reading = null;
  let readingPositions = null;

  function readChanged() {
    reading = null;
    const told = changed;
    changed = new Map();
    if (told.size <= Number(board.words.mostCards)) board.refreshSome([...told.keys()], told);
    else board.refresh();
  }
  function readPositions() {
    readingPositions = null;
    const ids = [...moved];
    board.refreshPositions(allMoved || ids.length > Number(board.words.mostCards) ? undefined : ids);
    moved = new Set();
    allMoved = false;
  }

  document.addEventListener("DOMContentLoaded", () => {
    find.value = new URLSearchParams(location.search).get("q") ?? "";
    if (find.value) board.search().then(board.show);
    board.refresh();
    rota.live(board.words.updates, take, { hidden: true, content: show });
  });
  // What the service says of the routes themselves; a search it answers only when it is asked.
  async function show({ ids, ...found }, message) {
    const routes = ids.filter((id) => id.startsWith("delivery:")).map((id) => id.slice(9));
    if (searched) return take(new Set(ids), message);
    take(new Set(ids.filter((id) => !id.startsWith("delivery:"))), message);
    await rota.released();
    board.showSome(routes, { ...found, found: null }, Infinity);
    for (const id of routes) board.sent.set(id, performance.now());
    board.connected(true);
  }
  function take(ids, message) {
    if (!ids) return board.refresh();
    for (const id of ids) {
      const [kind, key] = id.split(":");
      if (kind === "delivery") changed.set(key, message);
      else {
        if (kind === "position") moved.add(key);
        else allMoved = true; // a driver goes on or off duty
        readingPositions ??= setTimeout(readPositions, POSITIONS_PAUSE * (1 + Math.random() / 3));
      }
    }
    if (changed.size) reading ??= setTimeout(readChanged, PAUSE * Math.random()); // not all browsers at once
  }
  window.addEventListener("offline", () => board.connected(false));
  window.addEventListener("online", () => board.refresh());
  setInterval(() => { if (!document.hidden) board.refreshPositions(); }, FREE_DRIVERS);
}

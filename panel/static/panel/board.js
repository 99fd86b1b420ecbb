// The board: asks for news every three seconds while somebody looks, draws the routes, opens the dialogs.
"use strict";

const NEWS = 3000;
const STALE = 120; // seconds; the service calls an older position stale too
const list = () => document.getElementById("routes");
const dialog = document.getElementById("move");
const find = document.getElementById("find");
const map = rota.map(document.getElementById("map"), JSON.parse(document.getElementById("tiles").textContent));
let drawn = L.featureGroup().addTo(map);
let chosen = "";
let fitted = false;

function routes() {
  return [...list().querySelectorAll("script[type='application/json']")].map((script) => JSON.parse(script.textContent));
}

function draw() {
  drawn.remove();
  const shown = routes().filter((route) => !document.getElementById(`route-${route.id}`).hidden);
  drawn = L.featureGroup(shown.map((route) => rota.layer(route, route.id === chosen))).addTo(map);
  if (!fitted && shown.length) {
    map.fitBounds(drawn.getBounds(), { padding: [40, 40], maxZoom: 15 });
    fitted = true;
  }
}

function mark() {
  const words = find.value.trim().toLowerCase();
  for (const card of list().querySelectorAll(".route")) {
    const is = card.dataset.id === chosen;
    card.classList.toggle("chosen", is);
    card.querySelector(".choose").setAttribute("aria-pressed", String(is));
    card.hidden = Boolean(words) && !card.textContent.toLowerCase().includes(words);
  }
}

function ages() {
  const now = Date.now() / 1000;
  for (const place of list().querySelectorAll(".age")) {
    const age = Math.max(0, Math.round(now - Number(place.dataset.at)));
    const [unit, count] = age < 120 ? ["seconds", age] : age < 7200 ? ["minutes", Math.round(age / 60)] : ["hours", Math.round(age / 3600)];
    place.textContent = place.dataset.words.replace("%s", place.dataset[unit].replace("%s", count));
    place.classList.toggle("old", age > STALE);
  }
}

function renew() {
  mark();
  draw();
  ages();
}

document.addEventListener("click", (event) => {
  const card = event.target.closest(".route");
  if (!card || !event.target.closest(".choose")) return;
  chosen = chosen === card.dataset.id ? "" : card.dataset.id;
  renew();
  const route = routes().find((each) => each.id === chosen);
  if (route) map.fitBounds(rota.layer(route, true).getBounds(), { padding: [60, 60], maxZoom: 16 });
});
find.addEventListener("input", renew);
document.body.addEventListener("htmx:afterSwap", renew);
// After settling, when htmx listens to the fields of the dialog: what is typed before that would start no search.
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "move" && event.target.children.length) dialog.showModal();
});
document.body.addEventListener("moved", (event) => {
  // The move of a card's button may be answered while the dialog of another move is open.
  if (dialog.contains(event.target)) dialog.close();
  news();
});
document.body.addEventListener("refused", news);
document.addEventListener("visibilitychange", news);

// What was said goes by itself; an old refusal beside a new list would mislead.
let saying;
new MutationObserver(() => {
  clearTimeout(saying);
  saying = setTimeout(() => { document.getElementById("said").textContent = ""; }, 8000);
}).observe(document.getElementById("said"), { childList: true });

const offline = document.getElementById("offline");
let heard = new Date();
function lost() {
  offline.textContent = offline.dataset.words.replace("%s", heard.toLocaleTimeString(document.documentElement.lang));
  offline.hidden = false;
}
document.body.addEventListener("htmx:sendError", lost);
document.body.addEventListener("htmx:timeout", lost);
document.body.addEventListener("htmx:responseError", lost);
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  heard = new Date();
  offline.hidden = true;
});

function news() {
  if (!document.hidden) htmx.trigger(list(), "refresh");
}
setInterval(news, NEWS);
setInterval(ages, 1000);
renew();

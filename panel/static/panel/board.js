// The dispatch board: polls the list every three seconds while the page is visible, draws the routes, opens the dialogs.
"use strict";

const POLL_MILLISECONDS = 3000;
const list = () => document.getElementById("routes");
const dialog = document.getElementById("move");
const find = document.getElementById("find");
const freshSeconds = Number(document.getElementById("map").dataset.freshSeconds);
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

function updateCards() {
  const words = find.value.trim().toLowerCase();
  for (const card of list().querySelectorAll(".route")) {
    const isChosen = card.dataset.id === chosen;
    card.classList.toggle("chosen", isChosen);
    card.querySelector(".choose").setAttribute("aria-pressed", String(isChosen));
    card.hidden = Boolean(words) && !card.textContent.toLowerCase().includes(words);
  }
}

function updateAges() {
  const now = Date.now() / 1000;
  for (const place of list().querySelectorAll(".age")) {
    const age = Math.max(0, Math.round(now - Number(place.dataset.at)));
    const [unit, count] = age < 120 ? ["seconds", age] : age < 7200 ? ["minutes", Math.round(age / 60)] : ["hours", Math.round(age / 3600)];
    place.textContent = place.dataset.words.replace("%s", place.dataset[unit].replace("%s", count));
    place.classList.toggle("old", age > freshSeconds);
  }
}

function update() {
  updateCards();
  draw();
  updateAges();
}

document.addEventListener("click", (event) => {
  const card = event.target.closest(".route");
  if (!card || !event.target.closest(".choose")) return;
  chosen = chosen === card.dataset.id ? "" : card.dataset.id;
  update();
  const route = routes().find((each) => each.id === chosen);
  if (route) map.fitBounds(rota.layer(route, true).getBounds(), { padding: [60, 60], maxZoom: 16 });
});
find.addEventListener("input", update);
document.body.addEventListener("htmx:afterSwap", update);
// Open the dialog after htmx has attached its listeners: text typed earlier would not trigger the search.
document.body.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "move" && event.target.children.length) dialog.showModal();
});
document.body.addEventListener("moved", (event) => {
  // The response to a button on a card can arrive while the dialog of another move is open; that dialog stays open.
  if (dialog.contains(event.target)) dialog.close();
  poll();
});
document.body.addEventListener("refused", poll);
document.addEventListener("visibilitychange", poll);

// Clear a message after eight seconds: an old error beside an updated list would be misleading.
let hiding;
new MutationObserver(() => {
  clearTimeout(hiding);
  hiding = setTimeout(() => { document.getElementById("board-message").textContent = ""; }, 8000);
}).observe(document.getElementById("board-message"), { childList: true });

const offline = document.getElementById("offline");
let lastAnswer = new Date();
function showOffline() {
  offline.textContent = offline.dataset.words.replace("%s", lastAnswer.toLocaleTimeString(document.documentElement.lang));
  offline.hidden = false;
}
document.body.addEventListener("htmx:sendError", showOffline);
document.body.addEventListener("htmx:timeout", showOffline);
document.body.addEventListener("htmx:responseError", showOffline);
document.body.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  lastAnswer = new Date();
  offline.hidden = true;
});

function poll() {
  if (!document.hidden) htmx.trigger(list(), "refresh");
}
setInterval(poll, POLL_MILLISECONDS);
setInterval(updateAges, 1000);
update();

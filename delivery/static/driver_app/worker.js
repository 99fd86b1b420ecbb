// The service worker: the app starts without a connection. It keeps the page and its files, all of one version, and
// nothing of a driver; what drivers do is kept by the page in IndexedDB.
//
// `self.rota` has been set by the script that imports this one, templates/driver_app/sw.js.
"use strict";

const { version, shell, files } = self.rota;
const PREFIX = "driver-app-";
const CACHE = `${PREFIX}${version}`;

// From the server, because the browser's cache may still have files of the version before.
const fresh = (address) => new Request(address, { cache: "reload" });

self.addEventListener("install", (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(CACHE);
    await cache.addAll([shell, ...files].map(fresh));
    await self.skipWaiting();
  })());
});

self.addEventListener("activate", (event) => {
  event.waitUntil((async () => {
    const names = await caches.keys();
    await Promise.all(names.filter((name) => name.startsWith(PREFIX) && name !== CACHE).map((name) => caches.delete(name)));
    await self.clients.claim();
  })());
});

async function kept(address) {
  const cache = await caches.open(CACHE);
  const found = await cache.match(address);
  if (found) return found;
  // Browsers may delete what is kept, and the page deletes itself when its language changes.
  const answer = await fetch(fresh(address));
  if (answer.ok) await cache.put(address, answer.clone());
  return answer;
}

// Sent while the page is closed; the texts are in the phone's language, see delivery/offer_pushes.py.
self.addEventListener("push", (event) => {
  const { title, body, deliveryId } = event.data.json();
  const { icon } = self.rota;
  event.waitUntil(self.registration.showNotification(title, {
    body, icon, tag: deliveryId, data: { deliveryId }, vibrate: [300, 150, 300], requireInteraction: true,
  }));
});

self.addEventListener("notificationclick", (event) => {
  const notified = event.notification.data.deliveryId;
  event.notification.close();
  event.waitUntil((async () => {
    const [page] = (await self.clients.matchAll({ type: "window" })).filter(({ url }) => new URL(url).pathname === shell);
    if (!page) return self.clients.openWindow(`${shell}#${notified}`);
    page.postMessage({ notified });
    return page.focus();
  })());
});

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (request.method !== "GET" || origin !== self.location.origin) return;
  if (pathname === shell || files.includes(pathname)) event.respondWith(kept(pathname));
  else if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => Response.redirect(shell)));
});

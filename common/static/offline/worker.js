// The service worker of a page that opens without a connection. It keeps the page and its files, all of one version, and
// nothing of a person; what people do is kept by the page in IndexedDB.
//
// `self.rota` has been set by the script that imports this one, see common/pages/offline_pages.py.
"use strict";

{
  const { name, version, shell, files, later } = self.rota;
  const PREFIX = `${name}-`;
  const CACHE = `${PREFIX}${version}`;

  // From the server, because the browser's cache may still have files of the version before. Never the log-in, which the
  // service may lead to.
  const fresh = (address) => new Request(address, { cache: "reload", redirect: "error" });

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
      await Promise.all(names.filter((each) => each.startsWith(PREFIX) && each !== CACHE).map((each) => caches.delete(each)));
      await self.clients.claim();
    })());
  });

  async function kept(request, address) {
    const cache = await caches.open(CACHE);
    const found = await cache.match(address);
    if (found) return found;
    // Browsers may delete what is kept, and the page deletes itself when its language changes.
    const answer = await fetch(request.mode === "navigate" ? request : fresh(address));
    if (answer.ok) await cache.put(address, answer.clone());
    return answer;
  }

  self.addEventListener("fetch", (event) => {
    const { request } = event;
    const { origin, pathname } = new URL(request.url);
    if (request.method !== "GET" || origin !== self.location.origin) return;
    if (pathname === shell || files.includes(pathname) || later.includes(pathname)) event.respondWith(kept(request, pathname));
    else if (request.mode === "navigate") event.respondWith(fetch(request).catch(() => Response.redirect(shell)));
  });
}

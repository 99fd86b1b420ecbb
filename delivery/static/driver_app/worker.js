// Notifications of new offers, in the service worker of `offline/worker.js`.
"use strict";

// Sent while the page is closed; the texts are in the phone's language, see delivery/drivers/offer_pushes.py.
self.addEventListener("push", (event) => {
  const { title, body, deliveryId } = event.data.json();
  const icon = self.rota.files.find((file) => file.endsWith("icon-192.png"));
  event.waitUntil(self.registration.showNotification(title, {
    body, icon, tag: deliveryId, data: { deliveryId }, vibrate: [300, 150, 300], requireInteraction: true,
  }));
});

self.addEventListener("notificationclick", (event) => {
  const notified = event.notification.data.deliveryId;
  event.notification.close();
  event.waitUntil((async () => {
    const [page] = (await self.clients.matchAll({ type: "window" })).filter(({ url }) => new URL(url).pathname === self.rota.shell);
    if (!page) return self.clients.openWindow(`${self.rota.shell}#${notified}`);
    page.postMessage({ notified });
    return page.focus();
  })());
});

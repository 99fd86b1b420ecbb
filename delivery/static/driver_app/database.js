// What the phone keeps, in IndexedDB: it outlives the page, the browser and a restart of the phone.
//
//   moves   what the driver did and the service has not answered yet, or has refused: see `queue.js`
//   photos  { id, bytes, takenAt, deliveryId, point, version, isSent }: a JPEG that a move or a draft names
//   drafts  { key, receivedBy, photos }: what was entered at a point and not confirmed yet: see `proofs.js`
//   kept    by name: the last state, and positions that could not be sent

const NAME = "driver-app";
let opened = null;

function open() {
  opened ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      const database = request.result;
      database.createObjectStore("moves", { keyPath: "order", autoIncrement: true });
      database.createObjectStore("photos", { keyPath: "id" });
      database.createObjectStore("drafts", { keyPath: "key" });
      database.createObjectStore("kept");
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  return opened;
}

/**
 * One transaction over the stores with these names, which `act` is called with. Resolves when it is written, to the
 * result of the request that `act` returns. Rejects when nothing was written.
 */
async function transact(names, mode, act) {
  const database = await open();
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(names, mode, { durability: "strict" });
    const request = act(...[names].flat().map((name) => transaction.objectStore(name)));
    transaction.oncomplete = () => resolve(request?.result);
    transaction.onabort = () => reject(transaction.error);
  });
}

export const read = (names, act) => transact(names, "readonly", act);
export const write = (names, act) => transact(names, "readwrite", act);

export const keep = (name, value) => write("kept", (kept) => kept.put(value, name));
export const kept = (name) => read("kept", (store) => store.get(name));

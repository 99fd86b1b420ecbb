// What a page keeps on the device, in IndexedDB: it outlives the page, the browser and a restart of the device.

/**
 * The database with this name: `read` and `write` are one transaction over the stores with these names, which `act` is
 * called with. They resolve when it is written, to the result of the request that `act` returns, and reject when nothing
 * was written. `stores` are the options of each by its name. Beside them is one of single values, for `keep` and `kept`.
 */
export function database(name, stores) {
  let opened = null;

  function open() {
    opened ??= new Promise((resolve, reject) => {
      const request = indexedDB.open(name, 1);
      request.onupgradeneeded = () => {
        for (const [store, options] of Object.entries({ ...stores, kept: {} })) request.result.createObjectStore(store, options);
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
    return opened;
  }

  async function transact(names, mode, act) {
    const found = await open();
    return new Promise((resolve, reject) => {
      const transaction = found.transaction(names, mode, { durability: "strict" });
      const request = act(...[names].flat().map((each) => transaction.objectStore(each)));
      transaction.oncomplete = () => resolve(request?.result);
      transaction.onabort = () => reject(transaction.error);
    });
  }

  const read = (names, act) => transact(names, "readonly", act);
  const write = (names, act) => transact(names, "readwrite", act);
  return {
    read,
    write,
    keep: (key, value) => write("kept", (kept) => kept.put(value, key)),
    kept: (key) => read("kept", (kept) => kept.get(key)),
  };
}

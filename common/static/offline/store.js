// What the page shows. Whoever changes it calls `update`; the page is drawn again after that. Pages add what is theirs.

export const store = {
  state: null, // the service's last answer about who works here, with the token of its forms as `csrf`; or null
  isLoggedOut: false,
  isReachable: true,
  isStuck: false, // the service has failed too often at what waits: it is sent again when somebody wants it
  problem: "", // what the last press of a button could not do
};

let listeners = [];
let isPlanned = false;

/** Returns a function that ends it. */
export function onUpdate(listener) {
  listeners.push(listener);
  return () => { listeners = listeners.filter((each) => each !== listener); };
}

export function update(changes) {
  Object.assign(store, changes);
  if (isPlanned) return;
  isPlanned = true;
  queueMicrotask(() => {
    isPlanned = false;
    for (const listener of listeners) listener();
  });
}

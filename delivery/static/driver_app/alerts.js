// What drivers notice without looking: a sound for a new offer, and a screen that stays on during a route.
import { keepScreenOn, play, vibrate } from "../offline/device.js";
import { store } from "./store.js";

const NEW_OFFER = [[0, 880], [0.25, 1175], [0.5, 880], [0.75, 1175]];
let known = null; // ids of the offers that were there before

/** Sound and vibration if there is an offer that was not there before. */
export function announceOffers() {
  if (!store.state) return;
  const ids = store.state.offers.map((offer) => offer.deliveryId);
  if (known && ids.some((id) => !known.has(id))) {
    play(NEW_OFFER);
    vibrate([300, 150, 300]);
  }
  known = new Set(ids);
}

export const keepScreenOnDuringRoute = () => keepScreenOn(Boolean(store.state?.route));

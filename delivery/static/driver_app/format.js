// Amounts and addresses as people read them.

const language = document.documentElement.lang;
const reais = new Intl.NumberFormat(language, { minimumFractionDigits: 2, maximumFractionDigits: 2 });
const kilometres = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });

export const money = (value) => (value === null ? "" : `R$\u00A0${reais.format(value)}`);
export const km = (value) => (value === null ? "" : `${kilometres.format(value)} km`);

/** `3 · 2,5 kg · 40 × 30 × 20 cm`: how many, the weight of all, and the largest, as far as they are known. */
export function parcels(found) {
  if (!found) return "";
  const { count, largestCm, kg: weight } = found;
  const sides = largestCm.map((side) => kilometres.format(side)).join(" × ");
  const parts = [count, weight && `${kilometres.format(weight)} kg`, sides && `${sides} cm`];
  return parts.filter(Boolean).map((each) => `${each}`.replaceAll(" ", "\u00A0")).join(" · "); // breaks between them only
}

export function street({ address, coordinates }) {
  const line = [address.street, address.number].filter(Boolean).join(", ");
  return line || `${coordinates.latitude.toFixed(5)}, ${coordinates.longitude.toFixed(5)}`;
}

export const area = ({ address }) => [address.district, address.city, address.state].filter(Boolean).join(", ");

export const place = (point) => [street(point), point.address.district].filter(Boolean).join(", ");

/** Addresses that open a navigation app at a point. */
export function navigation({ latitude, longitude }) {
  const point = `${latitude},${longitude}`;
  return {
    google: `https://www.google.com/maps/dir/?api=1&travelmode=driving&destination=${encodeURIComponent(point)}`,
    waze: `https://waze.com/ul?navigate=yes&ll=${encodeURIComponent(point)}`,
    geo: `geo:${point}?q=${point}`,
  };
}

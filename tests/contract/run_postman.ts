// Sends every request of the Postman collection in an order in which each one succeeds.
// Usage: tsx run_postman.ts INVOICE_XML URL TEST_TOKEN API_KEY CARRIER_KEY
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import newman from "newman";

type Field = { key: string; type: string; src?: string };
type Item = { name: string; item?: Item[]; request?: { body?: { formdata?: Field[] } } };

const REQUEST = "Request a delivery";
const ACCEPT = "Have a simulated driver accept";
const SCENARIO = [
  ...["Quote a delivery", REQUEST, ACCEPT, "Set the driver's position", "Locate the driver", "Collect at A"],
  ...["Deliver at a drop-off", REQUEST, ACCEPT, "Collect at A", "Fail at a drop-off", "Return to A"],
  ...[REQUEST, "Let the offer expire now", REQUEST, "Change the contact or the instructions of a drop-off"],
  ...["Cancel a delivery", "Create an order", "Correct an order"],
  ...["Print the label of an order", "Print the label of an order as PDF", "Print the label of an order as ZPL"],
  ...["Print the labels of several orders", "Print the labels of several orders as PDF", "Print the labels of several orders as ZPL"],
  ...["Open a manifest", "Read a manifest", "Print a manifest as PDF"],
  ...["Remove orders from an open manifest", "Add orders to an open manifest", "Delete an open manifest", "Open a manifest", "Close a manifest"],
  ...["Move a test order to a status", "Upload an invoice (NF-e)", "Link an order to an invoice", "Remove an order from an invoice"],
];
const LAST = "Cancel an order";

// Addresses that come with an answer or a page, and are called without a token: a photo's, and a connected shop's.
const OTHER_ADDRESSES = ["Read a photo", "Post an order of a connected shop", "Post an order of a seller's connected shop"];
// The example of a request has neither the mode, the policy nor the window that these need.
const OF_OTHER_REQUESTS = ["Offer a scheduled delivery now", "Collect at a point of a delivery in mode REVERSE", "Say what follows a first failure"];

const [invoice, baseUrl, token, apiKey, carrierKey] = process.argv.slice(2);
assert(invoice && baseUrl && token && apiKey && carrierKey, "see the usage above");
const answer = await fetch(`${baseUrl}/api/postman.json`);
const collection = (await answer.json()) as { item: Item[] };
const requests = new Map(collection.item.flatMap((folder) => folder.item ?? []).map((item) => [item.name, item]));
// Requests that succeed at any time after these.
const others = [...requests.keys()].filter((name) => ![...SCENARIO, LAST, ...OTHER_ADDRESSES, ...OF_OTHER_REQUESTS].includes(name));
const sent = [...SCENARIO, ...others, LAST];
for (const { request } of requests.values()) {
  for (const field of request?.body?.formdata ?? []) if (field.type === "file") field.src = invoice;
}

const [accessKey] = readFileSync(invoice, "utf8").match(/[0-9]{44}/) ?? assert.fail("an access key");
const options = {
  collection: { ...collection, item: sent.map((name) => requests.get(name) ?? assert.fail(name)) },
  envVar: Object.entries({ baseUrl, token, apiKey, carrierKey, accessKey }).map(([key, value]) => ({ key, value })),
  timeout: 60_000,
  timeoutRequest: 10_000,
};
newman.run(options, (error, summary) => {
  if (error) throw error;
  for (const { source, error: failure } of summary.run.failures) console.error(`${source?.name}: ${failure.message}`);
  assert.equal(summary.run.failures.length, 0);
  assert.equal(summary.run.stats.assertions.total, sent.length);
  console.log(`${sent.length} requests of the Postman collection were answered as described.`);
});

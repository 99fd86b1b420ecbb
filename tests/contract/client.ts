// Makes every call of both APIs once with the client that openapi-generator makes of the OpenAPI description. The compiler
// checks that the program fits the client: no value is cast to another type.
// Usage: tsx client.ts INVOICE_XML URL TEST_TOKEN API_KEY
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import {
  Configuration,
  FindAndReadApi,
  ImmediateDeliveryApi,
  OrderIntegrationApi,
  ResponseError,
  SandboxApi,
  type DeliveryRequest,
  type SellerOrderRequest,
} from "../../var/contract/typescript/rota-client/index.ts";

const [invoice, basePath, token, apiKey] = process.argv.slice(2); // the carrier's key is for the client of Python
assert(invoice && basePath && token && apiKey, "usage: tsx client.ts INVOICE_XML URL TEST_TOKEN API_KEY");

const fetchApi: typeof fetch = (input, init) => fetch(input, { ...init, signal: AbortSignal.timeout(10_000) });
const ofShop = new Configuration({ basePath, fetchApi, accessToken: token });
const deliveries = new ImmediateDeliveryApi(ofShop);
const reading = new FindAndReadApi(ofShop);
const sandbox = new SandboxApi(ofShop);
const orders = new OrderIntegrationApi(new Configuration({ basePath, fetchApi, username: apiKey, password: "" }));

const place = { latitude: -23.552, longitude: -46.65 };
const delivery = (prefix = "", photo = false): DeliveryRequest => ({
  vehicleType: "MOTORCYCLE",
  deliveryMode: "DEFAULT",
  pickup: {
    contacts: { name: "Loja Paulista", phoneNumber: "+55 11 3333-0000" },
    address: { street: "Avenida Paulista", number: "1578", latitude: -23.561414, longitude: -46.655881 },
  },
  dropoffs: [
    { externalId: prefix + randomUUID(), address: { street: "Rua Augusta", ...place }, proof: { photo } },
    {
      address: { street: "Rua Oscar Freire", zipcode: "01426-001" },
      coordinates: { latitude: -23.5629, longitude: -46.6689 },
    },
  ],
  orderPackages: [{ description: "Caixa", height: 20, width: 30, length: 40, weight: 2.5, quantity: 1 }],
});

// The code of the refusal that a call ends with.
async function refusal(status: number, call: Promise<unknown>): Promise<string> {
  const error = await call.then(() => assert.fail("not refused"), (reason: unknown) => reason);
  assert(error instanceof ResponseError, String(error));
  assert.equal(error.response.status, status);
  return (await error.response.json()).code;
}

async function untilFinished(deliveryId: string) {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    const detail = await reading.getDelivery({ deliveryId });
    if (detail.route.status === "FINISHED") return detail;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${deliveryId} is not delivered after 20 s`);
}

async function deliver() {
  const deliveryRequest = delivery("", true);
  const quoted = await deliveries.quotationDeliveryRaw({ deliveryRequest });
  const quoteId = quoted.raw.headers.get("Quote-Id");
  assert(quoteId);
  const call = { deliveryRequest, quoteId, sandboxSpeed: 120, idempotencyKey: randomUUID() };
  const created = await deliveries.requestDelivery(call);
  const { deliveryId } = created;
  assert.equal(created.shippingValue, (await quoted.value()).shippingValue);
  assert.deepEqual(created.orders.map((order) => order.point), ["B", "C"]);
  assert.equal((await deliveries.requestDelivery(call)).deliveryId, deliveryId, "one Idempotency-Key, one delivery");
  assert.equal((await deliveries.infoDelivery({ deliveryId })).orders.length, 2);

  const detail = await untilFinished(deliveryId);
  assert.deepEqual(detail.orders.map((order) => order.status), ["DELIVERED", "DELIVERED"]);
  assert(detail.acceptedAt && detail.closedAt && detail.acceptedAt < detail.closedAt);
  const signed = detail.orders[0]?.proof?.photos[0]?.url.split("/").at(-1);
  assert(signed);
  assert((await reading.getPhoto({ signed })).size > 0);
  assert.equal((await deliveries.locationDelivery({ deliveryId })).tracking.reason, "FINISHED");

  const { externalId } = deliveryRequest.dropoffs[0]!;
  const page = await reading.listDeliveries({ externalId: externalId!, status: ["DELIVERED"], limit: 10 });
  assert.deepEqual(page.data.map((summary) => summary.deliveryId), [deliveryId]);
  assert.deepEqual(await statusesOfEvents(deliveryId), ["PENDING", "ACCEPT", "COLLECTED", "COLLECTED", "DELIVERED"]);
}

async function statusesOfEvents(deliveryId: string) {
  const statuses: string[] = [];
  for (let after: string | undefined; ; ) {
    const page = await reading.listEvents(after ? { after } : {});
    if (page.data.length === 0) return statuses;
    statuses.push(...page.data.filter((event) => event.body.deliveryId === deliveryId).map((event) => event.body.status));
    after = page.nextCursor;
  }
}

async function cancelDelivery() {
  const { deliveryId } = await deliveries.requestDelivery({ deliveryRequest: delivery("sim-manual-") });
  const info = await deliveries.cancelDelivery({ deliveryId, cancelRequest: { reason: "The customer gave up" } });
  assert.deepEqual(info.orders.map((order) => order.status), ["FAILED", "FAILED"]);
  assert.equal(await refusal(404, deliveries.infoDelivery({ deliveryId: randomUUID() })), "delivery_not_found");
}

async function move() {
  const { deliveryId } = await deliveries.requestDelivery({ deliveryRequest: delivery("sim-manual-") });
  assert.equal((await sandbox.sandboxAccept({ deliveryId })).status, "ACCEPT");
  await sandbox.sandboxPosition({ deliveryId, positionRequest: place });
  assert.equal((await sandbox.sandboxCollect({ deliveryId })).status, "COLLECTED");
  await sandbox.sandboxDeliver({ deliveryId, point: "B" });
  const failed = await sandbox.sandboxFail({ deliveryId, point: "C", failRequest: { reason: "Nobody was there" } });
  assert.deepEqual(failed.orders.map((order) => order.status), ["DELIVERED", "FAILED"]);
  assert.equal((await sandbox.sandboxReturn({ deliveryId })).status, "DELIVERED");

  assert.equal((await sandbox.sandboxWebhook({ webhookRequest: { url: "" } })).url, "");

  const waiting = await deliveries.requestDelivery({ deliveryRequest: delivery("sim-manual-") });
  assert.equal((await sandbox.sandboxExpire({ deliveryId: waiting.deliveryId })).status, "FAILED");
}

const order = (orderId: string): SellerOrderRequest => ({
  companyDocument: "48.372.915/0001-54",
  orderId,
  orderCost: 150,
  service: "base",
  items: [{ description: "Cafeteira", dimensions: "30x20x40,2.5", quantity: 1, price: 150 }],
  receiver: {
    name: "Maria Souza",
    document: "529.982.247-25",
    address: {
      state: "BA",
      city: "Salvador",
      zipCode: "40020-000",
      street: "Rua Chile",
      streetNumber: "10",
      neighborhood: "Centro",
    },
  },
});

async function ship() {
  const sides = { width: "30", height: "20", length: "40" };
  const sellerQuoteRequest = { origin: "01310100", destination: "40020000", ...sides, weight: 2.5 };
  const quote = await orders.shippingQuote({ sellerQuoteRequest });
  assert.equal(quote.data.to, "Salvador/BA");
  const services = await orders.shippingServices({ sellerQuoteRequest });
  assert(services.data.some((service) => service.amount === quote.data.amount));

  const orderId = randomUUID();
  const created = await orders.createOrder({ sellerOrderRequest: order(orderId) });
  assert.equal((await orders.getOrder({ orderId })).data.trackingCode, created.trackingCode);
  assert((await orders.listOrders()).data.some((each) => each.trackingCode === created.trackingCode));
  const found = await orders.trackOrders({ type: "order_number", value: created.trackingCode });
  assert.deepEqual(found.data[0]?.statusLog.map((entry) => entry.status), ["pending"]);
  const done = await orders.cancelOrder({ sellerCancelRequest: { orderId } });
  assert.equal(done.message, "Objeto cancelado com sucesso");
  const empty = { sellerOrderRequest: { ...order(randomUUID()), items: [] } };
  assert.equal(await refusal(422, orders.createOrder(empty)), "invalid_payload");
}

async function sendInvoice(file: string) {
  const nfe = new Blob([readFileSync(file)], { type: "application/xml" });
  assert.equal((await orders.uploadInvoice({ nfe })).message, "Nota fiscal salva com sucesso");
  assert.equal((await orders.listInvoices({ linked: false, limit: 1 })).success, true);
}

await deliver();
await cancelDelivery();
await move();
await ship();
await sendInvoice(invoice);

// Calls both APIs with the client that openapi-typescript generates from the OpenAPI description. The compiler checks
// that the program fits the client: no value is cast to another type.
// Usage: tsx client.ts INVOICE_XML URL TEST_TOKEN API_KEY
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { components, operations, paths } from "../../var/contract/openapi.ts";

type DeliveryRequest = components["schemas"]["DeliveryRequest"];
type FreightRequest = components["schemas"]["SellerQuoteRequest"];
type RequestHeaders = operations["request-delivery"]["parameters"]["header"];
type DeliveryQuery = operations["list-deliveries"]["parameters"]["query"];
type TrackingQuery = operations["track-orders"]["parameters"]["query"];
type OrderRequest = components["schemas"]["SellerOrderRequest"];

const [invoice, baseUrl, token, apiKey] = process.argv.slice(2);
assert(invoice && baseUrl && token && apiKey, "usage: tsx client.ts INVOICE_XML URL TEST_TOKEN API_KEY");

const connect = (authorization: string) =>
  createClient<paths>({
    baseUrl,
    headers: { Authorization: authorization },
    fetch: (request) => fetch(request, { signal: AbortSignal.timeout(10_000) }),
  });
const deliveries = connect(`Bearer ${token}`);
const orders = connect(`Basic ${apiKey}`);

// The body of a call that succeeded with this status.
function body<T>(status: number, result: { data?: T; error?: unknown; response: Response }): T {
  assert.equal(result.response.status, status, JSON.stringify(result.error));
  assert(result.data !== undefined);
  return result.data;
}

const delivery: DeliveryRequest = {
  vehicleType: "MOTORCYCLE",
  deliveryMode: "DEFAULT",
  pickup: {
    contacts: { name: "Loja Paulista", phoneNumber: "+55 11 3333-0000" },
    address: { street: "Avenida Paulista", number: "1578", latitude: -23.561414, longitude: -46.655881 },
  },
  dropoffs: [
    { externalId: randomUUID(), address: { street: "Rua Augusta", latitude: -23.552, longitude: -46.65 } },
    {
      address: { street: "Rua Oscar Freire", zipcode: "01426-001" },
      coordinates: { latitude: -23.5629, longitude: -46.6689 },
    },
  ],
  orderPackages: [{ description: "Caixa", height: 20, width: 30, length: 40, weight: 2.5, quantity: 1 }],
};

async function untilFinished(deliveryId: string) {
  for (const deadline = Date.now() + 20_000; Date.now() < deadline; ) {
    const path = { deliveryId };
    const detail = body(200, await deliveries.GET("/api/deliveries/{deliveryId}", { params: { path } }));
    if (detail.route.status === "FINISHED") return detail;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  throw new Error(`${deliveryId} is not delivered after 20 s`);
}

async function deliver() {
  const quoted = await deliveries.POST("/api/quotation-delivery", { body: delivery });
  const quote = body(200, quoted);
  const quoteId = quoted.response.headers.get("Quote-Id");
  assert(quoteId);
  const header: RequestHeaders = { "Idempotency-Key": randomUUID(), "Quote-Id": quoteId, "Sandbox-Speed": 120 };
  const request = () => deliveries.POST("/api/request-delivery", { body: delivery, params: { header } });
  const created = body(201, await request());
  assert.equal(created.shippingValue, quote.shippingValue);
  assert.deepEqual(created.orders.map((order) => order.point), ["B", "C"]);
  assert.equal(body(201, await request()).deliveryId, created.deliveryId, "one Idempotency-Key, one delivery");

  const path = { deliveryId: created.deliveryId };
  const info = body(200, await deliveries.GET("/api/info-delivery/{deliveryId}", { params: { path } }));
  assert.equal(info.orders.length, 2);
  const detail = await untilFinished(created.deliveryId);
  assert.deepEqual(detail.orders.map((order) => order.status), ["DELIVERED", "DELIVERED"]);
  assert(detail.acceptedAt && detail.closedAt && detail.acceptedAt < detail.closedAt);
  const location = body(200, await deliveries.GET("/api/location-delivery/{deliveryId}", { params: { path } }));
  assert.equal(location.tracking.reason, "FINISHED");

  const externalId = delivery.dropoffs[0]?.externalId;
  assert(externalId);
  const query: DeliveryQuery = { externalId, status: "DELIVERED", limit: 10 };
  const page = body(200, await deliveries.GET("/api/deliveries", { params: { query } }));
  assert.deepEqual(page.data.map((summary) => summary.deliveryId), [created.deliveryId]);
  const statuses = await statusesOfEvents(created.deliveryId);
  assert.deepEqual(statuses, ["PENDING", "ACCEPT", "COLLECTED", "COLLECTED", "DELIVERED"]);
}

async function statusesOfEvents(deliveryId: string) {
  const statuses: components["schemas"]["DeliveryStatus"][] = [];
  for (let after: string | undefined; ; ) {
    const page = body(200, await deliveries.GET("/api/events", { params: { query: after ? { after } : {} } }));
    if (page.data.length === 0) return statuses;
    const own = page.data.filter((event) => event.body.deliveryId === deliveryId);
    statuses.push(...own.map((event) => event.body.status));
    after = page.nextCursor;
  }
}

async function cancelDelivery() {
  const created = body(201, await deliveries.POST("/api/request-delivery", { body: delivery }));
  const params = { path: { deliveryId: created.deliveryId } };
  const reason = { reason: "The customer gave up" };
  const info = body(200, await deliveries.POST("/api/cancel-delivery/{deliveryId}", { params, body: reason }));
  assert.deepEqual(info.orders.map((order) => order.status), ["FAILED", "FAILED"]);
}

async function refuse() {
  const params = { path: { deliveryId: randomUUID() } };
  const { error, response } = await deliveries.GET("/api/info-delivery/{deliveryId}", { params });
  assert.equal(response.status, 404);
  assert.equal(error?.code, "delivery_not_found");
  const refused = await orders.POST("/api/integration/orders", { body: { ...order(randomUUID()), items: [] } });
  assert.equal(refused.response.status, 422);
  assert.deepEqual(Object.keys(refused.error?.errors ?? {}), ["items"]);
}

const order = (orderId: string): OrderRequest => ({
  company_document: "48.372.915/0001-54",
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

async function sendInvoice(file: string) {
  const uploaded = await orders.POST("/api/integration/invoices/marketplace", {
    body: { nfe: readFileSync(file, "utf8") },
    bodySerializer: ({ nfe }) => {
      const form = new FormData();
      form.append("nfe", new Blob([nfe], { type: "application/xml" }), "nfe.xml");
      return form;
    },
  });
  assert.equal(body(200, uploaded).message, "Nota fiscal salva com sucesso");
}

async function ship() {
  const sides = { width: "30", height: "20", length: "40" };
  const freight: FreightRequest = { origin: "01310100", destination: "40020000", ...sides, weight: 2.5 };
  const quote = body(200, await orders.POST("/api/integration/shipping/quote", { body: freight }));
  assert.equal(quote.data.to, "Salvador/BA");
  const services = body(200, await orders.POST("/api/integration/shipping/services", { body: freight }));
  assert(services.data.some((service) => service.amount === quote.data.amount));

  const orderId = randomUUID();
  const created = body(201, await orders.POST("/api/integration/orders", { body: order(orderId) }));
  const detail = body(200, await orders.GET("/api/integration/orders/{orderId}", { params: { path: { orderId } } }));
  assert.equal(detail.data.trackingCode, created.tracking_code);
  const query: TrackingQuery = { type: "order_number", value: created.tracking_code };
  const found = body(200, await orders.GET("/api/integration/orders/tracking", { params: { query } }));
  assert(found.success);
  assert.deepEqual(found.data[0]?.status_log.map((entry) => entry.status), ["pending"]);
  const done = body(200, await orders.POST("/api/integration/orders/cancel", { body: { orderId } }));
  assert.equal(done.message, "Objeto cancelado com sucesso");
}

await deliver();
await cancelDelivery();
await ship();
await sendInvoice(invoice);
await refuse();

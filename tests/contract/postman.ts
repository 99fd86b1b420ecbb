// Writes the Postman collection that openapi-to-postmanv2 makes of the OpenAPI description.
// Usage: tsx postman.ts OPENAPI_JSON POSTMAN_JSON
import { readFileSync, writeFileSync } from "node:fs";
import converter from "openapi-to-postmanv2";

type Examples<Value> = Record<string, { value: Value }>;
type Parameter = { name: string; in: string; example?: unknown; schema: Schema };
type Schema = { $ref?: string; enum?: string[]; default?: unknown };
type Answer = { links?: Record<string, { parameters?: Record<string, string> }> };
type Operation = {
  operationId: string;
  summary: string;
  parameters?: Parameter[];
  security?: Record<string, string[]>[];
  requestBody?: { content: Record<string, { examples?: Examples<Record<string, unknown>> }> };
  responses: Record<string, Answer>;
};
type Description = {
  servers: { url: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
};
type Item = {
  id?: string;
  name: string;
  item?: Item[];
  request?: { header: { key: string; disabled?: boolean }[] };
  event?: object[];
  response?: object[];
};

// What makes a request work every time, by operation and name of a parameter or of a key of the body.
const ORDERS = { orderIds: ["{{orderId}}"] };
const VALUES: Record<string, Record<string, unknown>> = {
  "request-delivery": { "Idempotency-Key": "{{$guid}}" },
  "create-order": { "Idempotency-Key": "{{$guid}}", orderId: "A-{{$timestamp}}" },
  "cancel-order": { orderId: "{{orderId}}" },
  "track-orders": { value: "{{orderId}}" },
  "print-labels": ORDERS,
  "create-manifest": ORDERS,
  "add-to-manifest": ORDERS,
  "remove-from-manifest": ORDERS,
  "link-invoice": { orderId: "{{orderId}}" },
  "unlink-invoice": { orderId: "{{orderId}}" },
  "sandbox-move-order": { status: "delivery_failed" }, // which its reason is for
};
const VARIABLES = { baseUrl: "http://127.0.0.1:8000", token: "", apiKey: "", carrierKey: "", deliveryId: "", orderId: "", manifestId: "", accessKey: "" };
// The converter's own names of variables.
const CREDENTIALS = {
  "{{bearerToken}}": "{{token}}",
  "{{basicAuthUsername}}": "{{apiKey}}",
  "{{basicAuthPassword}}": "",
};

// The converter makes up a different value at each run where there is no example.
function setExample(operation: Operation, parameter: Parameter, schemas: Description["components"]["schemas"]) {
  const { $ref, ...inline } = parameter.schema;
  const schema = $ref ? (schemas[$ref.split("/").at(-1)!] ?? inline) : inline;
  const chosen = VALUES[operation.operationId]?.[parameter.name];
  const variable = parameter.name in VARIABLES && parameter.in === "path" ? `{{${parameter.name}}}` : undefined;
  parameter.example = chosen ?? variable ?? parameter.example ?? schema.default ?? schema.enum?.[0] ?? "";
}

function prepare(description: Description): Operation[] {
  const operations = Object.values(description.paths).flatMap((methods) => Object.values(methods));
  description.servers = [{ url: VARIABLES.baseUrl }];
  for (const operation of operations) {
    for (const parameter of operation.parameters ?? []) setExample(operation, parameter, description.components.schemas);
    const [described] = Object.values(operation.requestBody?.content["application/json"]?.examples ?? {});
    const example = described?.value;
    for (const key of Object.keys(example ?? {})) {
      const value = VALUES[operation.operationId]?.[key];
      if (example && value) example[key] = value;
    }
  }
  return operations;
}

// What Postman runs after an answer: it checks the status and keeps what the links of the answer hand on.
function script(operation: Operation): string[] {
  const [status, answer] = Object.entries(operation.responses).find(([code]) => code.startsWith("2"))!;
  const handedOn = Object.values(answer.links ?? {}).flatMap((link) => Object.entries(link.parameters ?? {}));
  const lines = handedOn.flatMap(([name, expression]) => {
    const [, source, key] = /^\$(request|response)\.body#\/((?:[a-z]\w*\/)*[a-z]\w*)$/i.exec(expression) ?? [];
    const body = source === "request" ? "JSON.parse(pm.request.body.raw)" : "pm.response.json()";
    return key ? [`if (pm.response.code === ${status}) pm.collectionVariables.set("${name}", ${body}.${key.replaceAll("/", ".")});`] : [];
  });
  return [`pm.test("answers ${status}", () => pm.response.to.have.status(${status}));`, ...new Set(lines)];
}

function finish(items: Item[], operations: Operation[]) {
  for (const item of items) {
    delete item.id; // random; Postman makes one when it imports the collection
    delete item.response; // made-up answers; those of the documentation are real
    if (item.item) {
      finish(item.item, operations);
      continue;
    }
    const operation = operations.find(({ summary }) => summary === item.name);
    if (operation?.security?.some((each) => "carrierKey" in each)) {
      item.request = JSON.parse(JSON.stringify(item.request).replaceAll("{{apiKey}}", "{{carrierKey}}"));
    }
    if (!operation) throw new Error(`No operation has the summary "${item.name}".`);
    item.event = [{ listen: "test", script: { type: "text/javascript", exec: script(operation) } }];
    for (const header of item.request?.header ?? []) {
      if (VALUES[operation.operationId]?.[header.key]) header.disabled = false; // optional ones are switched off
    }
  }
}

// Nothing else can be done with what is cancelled: an order is cancelled last, a delivery after the moves of the sandbox.
function cancelLast(folders: Item[]) {
  const of = (name: string) => folders.find((folder) => folder.name === name)!;
  const taken = (folder: Item, name: string) => {
    const index = folder.item!.findIndex((item) => item.name === name);
    if (index < 0) throw new Error(`No request has the name "${name}".`);
    return folder.item!.splice(index, 1);
  };
  const orders = of("Order integration");
  orders.item!.push(...taken(orders, "Cancel an order"));
  const cancellation = { name: "Cancel", item: taken(of("Immediate delivery"), "Cancel a delivery") };
  folders.splice(folders.indexOf(of("Sandbox")) + 1, 0, cancellation);
}

const [source, target] = process.argv.slice(2);
if (!source || !target) throw new Error("usage: tsx postman.ts OPENAPI_JSON POSTMAN_JSON");
const description: Description = JSON.parse(readFileSync(source, "utf8"));
const operations = prepare(description);
const options = { folderStrategy: "Tags", parametersResolution: "Example", enableOptionalParameters: false };
converter.convertV2({ type: "json", data: description }, options, (error, converted) => {
  const data = converted?.output?.[0]?.data;
  if (error || !converted?.result || !data) throw error ?? new Error(`not converted: ${converted?.reason}`);
  let text = JSON.stringify(data);
  for (const [theirs, ours] of Object.entries(CREDENTIALS)) text = text.replaceAll(theirs, ours);
  const collection = JSON.parse(text);
  delete collection.info._postman_id;
  collection.item = collection.item.filter((folder: Item) => folder.item!.length); // not that of the webhooks
  finish(collection.item, operations);
  cancelLast(collection.item);
  collection.variable = Object.entries(VARIABLES).map(([key, value]) => ({ key, value }));
  writeFileSync(target, JSON.stringify(collection, null, 1) + "\n");
});

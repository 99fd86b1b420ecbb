const { createHmac, timingSafeEqual } = require("node:crypto");
const { createServer } = require("node:http");

const secret = Buffer.from(process.env.WEBHOOK_SECRET.replace(/^whsec_/, ""), "base64");

// Whether Rota signed this body within the last five minutes. `body` is the raw Buffer, as it arrived.
function isSignedByRota(headers, body) {
  const sentAt = headers["webhook-timestamp"] ?? "";
  if (!(Math.abs(Date.now() / 1000 - Number(sentAt)) <= 300)) return false;
  const hmac = createHmac("sha256", secret).update(`${headers["webhook-id"]}.${sentAt}.`).update(body);
  const expected = Buffer.from(hmac.digest("base64"));
  return (headers["webhook-signature"] ?? "").split(" ").some((part) => {
    const given = Buffer.from(part.slice(part.indexOf(",") + 1));
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

createServer((request, response) => {
  const chunks = [];
  request.on("data", (chunk) => chunks.push(chunk));
  request.on("end", () => {
    const body = Buffer.concat(chunks);
    if (!isSignedByRota(request.headers, body)) {
      console.error("Not signed with this WEBHOOK_SECRET, or clocks differ. Take the secret of this endpoint.");
      return response.writeHead(401).end();
    }
    const event = JSON.parse(body);
    console.log(request.headers["webhook-id"], event.deliveryId ?? event.orderId, event.status);
    response.writeHead(204).end();
  });
}).listen(Number(process.env.PORT ?? 9000), "127.0.0.1").on("error", (error) => {
  console.error(`${error.message}. Choose another PORT, and set the webhook URL to http://127.0.0.1:<PORT>/`);
  process.exit(1);
});

// The API reference: Swagger UI with the service's own description. Calls with a live credential are not sent from here.
"use strict";

const holder = document.getElementById("reference");

// Its own words, and the names of its groups, in the language of the page, which the description has already. Code stays.
const words = JSON.parse(holder.dataset.words);
holder.style.setProperty("--required", JSON.stringify(words.required)); // a text of its style sheet

function translate(node) {
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  for (let text = node.nodeType === Node.TEXT_NODE ? node : texts.nextNode(); text; text = texts.nextNode()) {
    const word = text.nodeValue.trim();
    const known = Object.hasOwn(words, word) && words[word] !== word;
    if (!known || text.parentElement?.closest("pre, code, textarea, .renderedMarkdown, .model")) continue;
    text.nodeValue = text.nodeValue.replace(word, words[word]);
  }
}

new MutationObserver((changes) => {
  for (const { type, target, addedNodes } of changes) {
    for (const node of type === "characterData" ? [target] : addedNodes) translate(node);
  }
}).observe(holder, { childList: true, subtree: true, characterData: true });

// Of `Authorization: Bearer <token>` or `Basic <base64 of key and colon>`. A carrier's key is always live.
function isLive(authorization) {
  const [scheme, sent = ""] = authorization.split(" ");
  return /rota_(live|key|carrierkey)_/.test(scheme === "Basic" ? atob(sent) : sent);
}

// Open the call that the address names. Swagger UI does it when it begins only, and the search of this page leads to others.
function openCall() {
  const hash = decodeURIComponent(location.hash);
  const [, tag = "", operation] = hash.split("/");
  if (!operation) return;
  reference.layoutActions.parseDeepLinkHash(hash);
  document.getElementById(`operations-${tag.replaceAll(" ", "_")}-${operation}`)?.scrollIntoView();
}

const reference = SwaggerUIBundle({
  domNode: holder,
  url: holder.dataset.description,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  docExpansion: "list",
  persistAuthorization: false, // a token would stay in the browser's storage
  requestSnippetsEnabled: true,
  tryItOutEnabled: true,
  validatorUrl: "none",
  requestInterceptor(request) {
    if (isLive(request.headers.Authorization || "")) {
      // In place of fetch(), so that the answer's place shows why. An exception here would end the page's script.
      request.userFetch = () => Promise.reject(new Error(holder.dataset.liveRefused));
    }
    return request;
  },
});

addEventListener("hashchange", openCall);

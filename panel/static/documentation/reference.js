// The API reference: Swagger UI with the service's own description. Calls with a live token are not sent from here.
"use strict";

const holder = document.getElementById("reference");

SwaggerUIBundle({
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
    if ((request.headers.Authorization || "").includes("rota_live_")) {
      // In place of fetch(), so that the answer's place shows why. An exception here would end the page's script.
      request.userFetch = () => Promise.reject(new Error(holder.dataset.liveRefused));
    }
    return request;
  },
});

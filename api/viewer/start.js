// Show the description that lies beside the page. No validator: it would send the description elsewhere.
window.onload = () => SwaggerUIBundle({
  url: "openapi.yaml", dom_id: "#api", validatorUrl: null, deepLinking: true, docExpansion: "list", filter: true,
  defaultModelsExpandDepth: 0, tryItOutEnabled: false,
});

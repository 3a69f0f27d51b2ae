// @ts-check
/* global SwaggerUIBundle */

const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#reference',
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  defaultModelExpandDepth: 3,
  displayRequestDuration: true,
  supportedSubmitMethods: ['get'],
  tryItOutEnabled: true,
  // Keep the key in this page's memory only, until a reload or until the tab closes.
  persistAuthorization: false,
  // Send no request to another host, and let no URL parameter choose another document.
  validatorUrl: null,
  queryConfigEnabled: false,
});

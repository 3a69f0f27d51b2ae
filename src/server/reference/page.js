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
  // The key stays in this page's memory: gone with a reload or the tab.
  persistAuthorization: false,
  // No other host is asked, and no address chooses another document.
  validatorUrl: null,
  queryConfigEnabled: false,
});

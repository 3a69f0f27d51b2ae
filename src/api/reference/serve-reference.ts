import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { successAnswer } from '../../http/answer.ts';
import { inPackage } from '../../platform/package-root.ts';
import { sendStatic } from '../send-static.ts';
import { markdown } from './markdown.ts';

// Swagger UI sets style attributes and uses data: URLs for icons. Everything else must come from this service.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const OWN_PATH = /(="|\(|'|<ORIGIN>)(\/(?:api|docs|openapi\.json|llms\.txt))/g;

const TYPES = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  json: 'application/json; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  txt: 'text/plain; charset=utf-8',
};

/**
 * Serves the reference without authentication: `/openapi.json`, the page `/docs`, its Markdown `/docs.md`, and `/llms.txt`.
 * Their links include the base path. These requests are neither recorded nor counted. Every response outside `/api/` links
 * to the document and the page.
 */
export function serveReference(app: FastifyInstance, basePath: string): void {
  const beside = (name: string) => readFileSync(inPackage(`src/api/reference/${name}`));
  // All links to our own paths have one of these forms: ="/docs.md", (/docs.md), '/openapi.json', <ORIGIN>/api/.
  const placed = (text: Buffer) => Buffer.from(text.toString().replaceAll(OWN_PATH, `$1${basePath}$2`));
  const link = `<${basePath}/openapi.json>; rel="service-desc"; type="application/json", <${basePath}/docs>; rel="service-doc"; type="text/html"`;
  const swaggerStyle = readFileSync(new URL(import.meta.resolve('swagger-ui-dist/swagger-ui.css')));
  const swaggerScript = readFileSync(new URL(import.meta.resolve('swagger-ui-dist/swagger-ui-bundle.js')));
  const document = Buffer.from(
    readFileSync(inPackage('openapi.json'), 'utf8').replace('"url": "/"', `"url": "${basePath}/"`),
  );

  // An earlier hook answers requests under /api/, so this one never runs for them.
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({ link, 'referrer-policy': 'no-referrer' });
  });
  serve(app, '/openapi.json', TYPES.json, document);
  serve(app, '/docs.md', TYPES.md, Buffer.from(markdown(JSON.parse(document.toString()))));
  serve(app, '/llms.txt', TYPES.txt, placed(beside('llms.txt')));
  serve(app, '/docs', TYPES.html, placed(beside('page.html')));
  serve(app, '/docs/page.css', TYPES.css, beside('page.css'));
  serve(app, '/docs/page.js', TYPES.js, placed(beside('page.js')));
  serve(app, '/docs/swagger-ui.css', TYPES.css, swaggerStyle);
  serve(app, '/docs/swagger-ui-bundle.js', TYPES.js, swaggerScript);
}

function serve(app: FastifyInstance, url: string, type: string, body: Buffer): void {
  const answer = successAnswer(body, null, true);
  app.route({
    method: ['GET', 'HEAD'],
    url,
    handler: (request, reply) => {
      reply.header('vary', 'Accept-Encoding');
      return sendStatic(request, reply, answer, { type, caching: 'public, no-cache', policy: POLICY });
    },
  });
}

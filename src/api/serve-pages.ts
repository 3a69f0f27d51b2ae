import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type Answer, successAnswer } from '../http/answer.ts';
import { unknownPath } from '../http/errors.ts';
import { inPackage } from '../platform/package-root.ts';
import { servedPaths } from '../vocabulary/page-paths.ts';
import { sendStatic } from './send-static.ts';

const BUILT = fileURLToPath(inPackage('console/dist'));

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
].join('; ');

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

const notBuilt = successAnswer(
  Buffer.from('<!doctype html><title>dbvitals</title><p>The console is not built: run npm ci.'),
  null,
  true,
);

/**
 * Serves the built pages of the console (`console/dist`) to anyone: they contain no data of an account. A page is served
 * only where HTML is accepted; for other clients its path is unknown. Unknown paths get the console's own 404 page.
 */
export function servePages(app: FastifyInstance, basePath: string): void {
  const files = new Map(builtFiles().map((name) => [name, answerOf(readFileSync(`${BUILT}/${name}`))]));
  const built = files.get('index.html');
  const document = built ? answerOf(atBase(built.body, basePath)) : notBuilt;
  // Every path serves the same document: its script renders the page.
  for (const url of servedPaths()) {
    app.route({
      method: ['GET', 'HEAD'],
      url,
      handler: (request, reply) => {
        reply.header('vary', 'Accept, Accept-Encoding');
        if (!isForBrowser(request))
          return reply
            .code(404)
            .type(TYPES['.json'] ?? '')
            .send(unknownPath.envelope());
        return send(request, reply, document, TYPES['.html'] ?? '', 'no-cache');
      },
    });
  }
  app.setNotFoundHandler((request, reply) => {
    reply.code(404).header('vary', 'Accept, Accept-Encoding');
    const isPage = isForBrowser(request) && (request.method === 'GET' || request.method === 'HEAD');
    if (!isPage) return reply.type(TYPES['.json'] ?? '').send(unknownPath.envelope());
    return send(request, reply, document, TYPES['.html'] ?? '', 'no-store');
  });
  for (const [name, answer] of files) {
    if (name === 'index.html') continue;
    const type = TYPES[extname(name)] ?? 'application/octet-stream';
    // Vite puts a content hash into file names below assets/.
    const caching = name.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
    app.route({
      method: ['GET', 'HEAD'],
      url: `/${name}`,
      handler: (request, reply) => {
        reply.header('vary', 'Accept-Encoding');
        return send(request, reply, answer, type, caching);
      },
    });
  }
}

function isForBrowser(request: FastifyRequest): boolean {
  return /\btext\/html\b/i.test(request.headers.accept ?? '');
}

// Vite makes paths relative to the document (`base: './'`), but a page's path may be deeper.
function atBase(html: Buffer, basePath: string): Buffer {
  return Buffer.from(
    html.toString().replaceAll('="./', `="${basePath}/`).replace('href="/docs"', `href="${basePath}/docs"`),
  );
}

function answerOf(body: Buffer): Answer {
  return successAnswer(body, null, true);
}

/** Paths below `console/dist`; none if the console was not built. */
function builtFiles(): string[] {
  try {
    return readdirSync(BUILT, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(BUILT.length + 1));
  } catch {
    return [];
  }
}

function send(request: FastifyRequest, reply: FastifyReply, answer: Answer, type: string, caching: string) {
  reply.removeHeader('link').header('cross-origin-opener-policy', 'same-origin');
  return sendStatic(request, reply, answer, { type, caching, policy: POLICY });
}

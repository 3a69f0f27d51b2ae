import { fastify } from 'fastify';
import { openPool } from '../src/database/connect.ts';
import { openStore } from '../src/database/open.ts';
import type { Read } from '../src/database/read.ts';
import { connections } from '../src/health/connections.ts';
import { tellPort } from './tell-port.ts';

// A rival: a simple server with Fastify and a pool of 10. It checks no key, counts and records nothing, caches nothing,
// and reads endpoint 1 from the service's store on every request.

const accountId = Number(process.argv[2]);
const store = await openStore(
  { databaseUrl: null, dataDir: process.env['DBVITALS_DATA_DIR'] ?? '' },
  () => {},
  'refuse',
);
const pool = openPool(store.address, 'writer', { max: 10 });
const read: Read = async (text, values) => (await pool.query({ name: text.slice(0, 60), text, values })).rows;

const app = fastify();
app.get<{ Querystring: Record<string, string> }>(
  '/api/v1/health/connections',
  { schema: { response: { 200: connections.response } } },
  async ({ query, url }) => {
    const { body } = await connections.answer(read, {
      accountId,
      query,
      id: '',
      url: `http://127.0.0.1${url}`,
    });
    return body;
  },
);
await app.listen({ port: 0, host: '127.0.0.1' });
tellPort(app.server);
process.once('SIGTERM', async () => {
  await app.close();
  await pool.end();
  await store.close();
});

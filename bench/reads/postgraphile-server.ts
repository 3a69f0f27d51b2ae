import { createServer } from 'node:http';
import { openPool } from '../../src/store/connect.ts';
import { openStore } from '../../src/store/open.ts';
import { tellPort } from '../tell-port.ts';

// A rival: PostGraphile, a general server that gives a PostgreSQL's rows by GraphQL. It is installed below this folder, and
// not among the project's dependencies, so its modules have no types here.

process.env['GRAPHILE_ENV'] = 'production';

type Make = (given: unknown) => unknown;
const exportOf = async (path: string, name: string): Promise<Make> =>
  (await import(`postgraphile${path}`))[name];
const makeTagsPlugin = await exportOf('/utils', 'makePgSmartTagsPlugin');
const makeService = await exportOf('/adaptors/pg', 'makePgService');
const postgraphile = await exportOf('', 'postgraphile');

const store = await openStore(
  { databaseUrl: null, dataDir: process.env['DBVITALS_DATA_DIR'] ?? '' },
  () => {},
  'use',
);
const pool = openPool(store.address, 'writer', { max: 10 });

// The store has no such foreign key, because a request's entry should not pay for it.
const nameOfKey = makeTagsPlugin({
  kind: 'class',
  match: ({ _type, relname }: { _type: string; relname: string }) =>
    _type === 'PgClass' && relname === 'activity',
  tags: { foreignKey: '(account_id, api_key_id) references api_key (account_id, api_key_id)' },
});
const preset = {
  extends: [await exportOf('/presets/amber', 'PostGraphileAmberPreset')],
  plugins: [nameOfKey],
  pgServices: [makeService({ pool, schemas: ['public', 'bench'] })],
  grafserv: { graphqlPath: '/graphql', websockets: false },
};
const { createServ } = postgraphile(preset) as { createServ: Make };
const served = createServ(await exportOf('/grafserv/node', 'grafserv')) as {
  addTo: (server: unknown) => Promise<void>;
};
const server = createServer();
await served.addTo(server);
server.listen(0, '127.0.0.1', () => tellPort(server));
process.once('SIGTERM', async () => {
  server.closeAllConnections();
  server.close();
  await pool.end();
  await store.close();
  process.exit();
});

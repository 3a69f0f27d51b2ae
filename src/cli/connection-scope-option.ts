import type { ConnectionScope } from '../notifications/connection-scope.ts';
import { idOf, textOf } from './arguments.ts';

/** The help of a {@link connectionScopeOf} option. */
export const CONNECTION_SCOPE =
  'the id of a connection, a name in which * is any text, or tag:env:production; may be repeated';

/** Parser of a repeatable option that names connections: ids, or names in which `*` is any text. */
export function connectionScopeOf(
  option: string,
): (text: string, before: ConnectionScope | undefined) => ConnectionScope {
  return (text, { connection_ids: ids, connection_names: names } = EVERY_CONNECTION) =>
    /^[0-9]+$/.test(text)
      ? { connection_ids: [...(ids ?? []), idOf(option)(text)], connection_names: names }
      : { connection_ids: ids, connection_names: [...(names ?? []), textOf(option)(text)] };
}

/** The scope without such an option. */
export const EVERY_CONNECTION: ConnectionScope = { connection_ids: null, connection_names: null };

/** A row with the connections in one field, for a table. */
export function withScopeText<Row extends { connections: { ids: number[] | null; names: string[] | null } }>(
  row: Row,
) {
  const { ids, names } = row.connections;
  const parts = [...(ids ?? []).map(String), ...(names ?? [])];
  return { ...row, connections: ids === null && names === null ? 'all' : parts.join(', ') };
}

import type { ChangeAccount } from '../../activity/record-entry.ts';
import { addConnection } from '../../connections/add-connection.ts';
import { changeConnection } from '../../connections/change-connection.ts';
import { agreedTls, tlsOf } from '../../connections/connection-tls.ts';
import { removeConnection } from '../../connections/remove-connection.ts';
import { changeTagsWithin, requireTags, requireTagsOfOne } from '../../connections/tags/change-tags.ts';
import { EditConflict, invalidParameter, Rejection } from '../../platform/rejection.ts';
import type { Read } from '../../store/read.ts';
import { editConflict } from '../edit-conflict.ts';
import { type ConsoleParts, type ConsoleRoute, consoleRoute } from '../route.ts';
import { readSettings } from './connection-detail.ts';
import { ConnectionChange, ConnectionSettings, NewConnection } from './connection-schemas.ts';
import {
  addressIn,
  requireAddress,
  requireNoSocket,
  requireOwnWay,
  settingsIn,
  tunnelIn,
} from './parse-connection.ts';

/** The default check interval in seconds, the same as for `connection add`. */
const INTERVAL = 300;

const nothingToChange = new Rejection(
  'invalid_parameter',
  'Send at least one field to change besides the version.',
);

const add = consoleRoute({
  method: 'POST',
  path: '/connections',
  permission: 'connections:write',
  body: NewConnection,
  response: ConnectionSettings,
  status: 201,
  async handler({ actor, body, change, parts, read }) {
    const address = requireAddress(body);
    requireNoSocket(body, address, parts);
    const wanted = {
      ...address,
      ...settingsIn(body),
      ...tunnelIn(body, false),
      name: body.name.trim(),
      every: body.interval_seconds ?? INTERVAL,
      tls: tlsOf(address.connection_type, agreedTls(body.tls, address.tls)),
    };
    if (wanted.ssh) requireHost(address.connection_type);
    const tags = requireTags(body.tags ?? []);
    requireTagsOfOne(tags);
    const { id } = await change(async (within) => {
      const added = await addConnection((work) => work(within), parts.secret, wanted);
      await changeTagsWithin(within, [added.id], { add: tags });
      return added;
    });
    return read((run) => readSettings(run, actor.accountId, id));
  },
});

const alter = consoleRoute({
  method: 'PATCH',
  path: '/connections/:id',
  permission: 'connections:write',
  body: ConnectionChange,
  response: ConnectionSettings,
  async handler({ actor: { accountId }, body, change, id, parts, read }) {
    if (Object.keys(body).length === 1) throw nothingToChange;
    await makeChange({ accountId, body, change, id, parts, read });
    return read((run) => readSettings(run, accountId, id));
  },
});

interface AskedChange {
  accountId: number;
  body: ConnectionChange;
  change: ChangeAccount;
  id: number;
  parts: ConsoleParts;
  read<T>(work: (run: Read) => Promise<T>): Promise<T>;
}

/** Changes the connection. Throws 404, 409, and errors of invalid settings. */
export async function makeChange(asked: AskedChange): Promise<void> {
  const { accountId, body, change, id, parts, read } = asked;
  const before = await read((run) => readSettings(run, accountId, id));
  const { version, name, interval_seconds: every } = body;
  const address = addressIn(body);
  const tls = agreedTls(body.tls, address?.tls);
  requireNoSocket(body, address, parts, before);
  requireOwnWay(body, before);
  const password = body.password ?? address?.password ?? undefined;
  const wanted = {
    version,
    ...settingsIn(body),
    ...tunnelIn(body, before.ssh?.has_key === true),
    ...(body.ssh === null && { type: 'direct' as const }),
    ...(name !== undefined && { name: name.trim() }),
    ...(every !== undefined && { every }),
    ...(tls && { tls }),
    ...(address && { address }),
    ...(password !== undefined && { password }),
  };
  try {
    await changeConnection(change, parts.secret, id, wanted);
  } catch (error) {
    if (!(error instanceof EditConflict)) throw error;
    const of = { property: 'connection_id', id };
    throw await read((run) => editConflict(run, accountId, 'connection_changed', of));
  }
}

const remove = consoleRoute({
  method: 'DELETE',
  path: '/connections/:id',
  permission: 'connections:write',
  response: null,
  async handler({ change, id }) {
    await removeConnection(change, id);
  },
});

export const changeConnectionRoutes: ConsoleRoute[] = [add, alter, remove];

/** A tunnel needs a host. */
export function requireHost(connectionType: string): void {
  if (connectionType === 'unix_socket')
    throw invalidParameter('ssh', 'An SSH tunnel needs a host, not a Unix socket.');
}

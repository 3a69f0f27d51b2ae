import type pg from 'pg';
import { requireCollector } from '../../accounts/collectors/collector-row.ts';
import { addConnection } from '../../connections/add-connection.ts';
import { everySettingsOf, type StoredConnection } from '../../connections/connection-changes.ts';
import { removeConnection } from '../../connections/remove-connection.ts';
import { changeTagsWithin } from '../../connections/tags/change-tags.ts';
import { readTags } from '../../connections/tags/connection-tags.ts';
import { within } from '../../store/read.ts';
import type { Step, Steps } from './apply-step.ts';
import type { DesiredConnection } from './parse-connections.ts';
import { alteration, type Tools } from './plan-connection-changes.ts';
import { planSilences, type Silenced } from './plan-silences.ts';

/** The steps that bring an account's connections and their silences to the desired state. */
export async function planConnections(
  client: pg.ClientBase,
  account: Silenced['account'],
  wanted: readonly DesiredConnection[],
  tools: Tools,
): Promise<Steps> {
  const stored = account.id === null ? [] : await everySettingsOf(client, account.id);
  const tags = account.id === null ? null : await readTags(within(client), account.id);
  const known = Map.groupBy(stored, ({ name }) => name);
  const steps: Steps = { wanted: [], unnamed: [] };
  for (const connection of wanted) {
    const [before, second] = known.get(connection.name) ?? [];
    if (before && second) {
      const ids = `${before.id} and ${second.id}`;
      tools.file.problem(
        connection.path,
        `Connections ${ids} share this name: rename one with "connection change".`,
      );
    }
    const silenced = { account, id: before?.id ?? null, name: connection.name };
    const own = before
      ? await alteration(client, account, before, connection, tools)
      : addition(silenced, connection, tools.secret);
    const silences = connection.silences ? await planSilences(client, silenced, connection.silences) : null;
    const step = withTags(own, silenced, connection, (before && tags?.get(before.id)) ?? []);
    steps.wanted.push(...(step ? [step] : []), ...(silences?.wanted ?? []));
    steps.unnamed.push(...(silences?.unnamed ?? []));
  }
  const named = new Set(wanted.map(({ name }) => name));
  const gone = stored.filter(({ name }) => !named.has(name));
  steps.unnamed.push(...gone.map((connection) => removal(account.name, connection)));
  return steps;
}

function addition(silenced: Silenced, wanted: DesiredConnection, secret: Tools['secret']): Step {
  const {
    path: _path,
    silences: _silences,
    tags: _tags,
    address,
    collector,
    ssh,
    sshKey,
    ...settings
  } = wanted;
  const to = { host: address.host, port: address.port };
  const of = { what: 'connection', account: silenced.account.name, name: wanted.name } as const;
  const tunnel = { ...(ssh && { ssh }), ...(sshKey !== null && { sshKey }) };
  return {
    difference: { action: 'add', ...of, changed: Object.keys(to), from: {}, to },
    make: async (change) => {
      const found =
        collector === null ? null : await requireCollector(change.client, change.accountId, collector);
      const collectedBy = found && { ...found, as: wanted.name };
      const added = { ...address, ...settings, ...tunnel, ...(collectedBy && { collectedBy }) };
      silenced.id = (await addConnection((work) => work(change), secret, added)).id;
    },
  };
}

function removal(account: string, { id, name }: StoredConnection): Step {
  return {
    difference: { action: 'remove', what: 'connection', account, name, changed: [], from: {}, to: {} },
    make: (change) => removeConnection((work) => work(change), id),
  };
}

/** The step of a connection, if any, and what its tags need; the same if the file says nothing about tags. */
function withTags(
  own: Step | null,
  connection: Silenced,
  { name, tags: wanted }: Pick<DesiredConnection, 'name' | 'tags'>,
  stored: readonly string[],
): Step | null {
  if (wanted === null || wanted.join() === stored.join()) return own;
  const added = connection.id === null;
  const base: Step = own ?? {
    difference: {
      action: 'change',
      what: 'connection',
      account: connection.account.name,
      name,
      changed: [],
      from: {},
      to: {},
    },
    make: async () => {},
  };
  const { changed, from, to } = base.difference;
  return {
    difference: {
      ...base.difference,
      changed: [...changed, 'tags'],
      from: added ? from : { ...from, tags: stored },
      to: { ...to, tags: wanted },
    },
    async make(change) {
      await base.make(change);
      if (connection.id === null) return;
      const remove = stored.filter((tag) => !wanted.includes(tag));
      await changeTagsWithin(change, [connection.id], { add: wanted, remove });
    },
  };
}

import { changeTagsWithin } from '../../connections/tags/change-tags.ts';
import type { Step } from './apply-step.ts';
import type { DesiredConnection } from './parse-connections.ts';
import type { Silenced } from './plan-silences.ts';

/** The step of a connection, if any, and what its tags need; the same if the file says nothing about tags. */
export function withTags(
  own: Step | null,
  connection: Silenced,
  { name, tags: wanted }: Pick<DesiredConnection, 'name' | 'tags'>,
  stored: readonly string[],
): Step | null {
  if (wanted === null || wanted.join() === stored.join()) return own;
  const added = connection.id === null;
  const base: Step = own ?? {
    difference: {
      ...({ action: 'change', what: 'connection', account: connection.account.name, name } as const),
      ...{ changed: [], from: {}, to: {} },
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

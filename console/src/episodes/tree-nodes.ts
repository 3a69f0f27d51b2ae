import type { EpisodeTree } from '../../../src/console-api/episodes/episode-schemas.ts';

type Wait = EpisodeTree['waits'][number];

/** A session that waits, and those that wait for it. */
export interface WaitNode {
  wait: Wait;
  behind: WaitNode[];
}

/** The sessions that wait for the root itself, each with those behind it. A session that waits for several stands behind the first. */
export function waitNodes({ waits }: Pick<EpisodeTree, 'waits'>): WaitNode[] {
  const nodes = new Map(waits.map((wait): [number, WaitNode] => [wait.pid, { wait, behind: [] }]));
  const above = new Map(
    waits.map(({ pid, blockers }) => [pid, blockers.find((blocker) => nodes.has(blocker))]),
  );
  const first: WaitNode[] = [];
  for (const [pid, node] of nodes) {
    const blocker = isInCircle(pid, above) ? undefined : above.get(pid);
    const parent = blocker === undefined ? undefined : nodes.get(blocker);
    (parent?.behind ?? first).push(node);
  }
  return first;
}

/** Whether a session waits, through others, for itself: the server ends such a deadlock, and it has no root. */
function isInCircle(pid: number, above: ReadonlyMap<number, number | undefined>): boolean {
  const passed = new Set<number>();
  for (let at = above.get(pid); at !== undefined && !passed.has(at); at = above.get(at)) {
    if (at === pid) return true;
    passed.add(at);
  }
  return false;
}

import { Named } from '../parts/named.tsx';
import './episodes.css';
import type { EpisodeTree, TreeSession } from '../../../src/console-api/episodes/episode-schemas.ts';
import { duration } from '../parts/time.tsx';
import { type WaitNode, waitNodes } from './tree-nodes.ts';

/** The sessions that waited at one instant, below the session that blocked them. */
export function BlockingTree({ tree }: { tree: EpisodeTree }) {
  const nodes = waitNodes(tree);
  const left = tree.sessions - tree.waits.length;
  return (
    <ul aria-label="Blocking tree" className="blocking-tree">
      <li>
        <span className="tree-root">
          {tree.root ? (
            <SessionText session={tree.root} />
          ) : (
            'A transaction without a session, such as a prepared one, or one that the server does not show'
          )}
        </span>
        <Waits nodes={nodes} />
        {left > 0 && <p className="quiet small">and {left} more</p>}
      </li>
    </ul>
  );
}

function Waits({ nodes }: { nodes: readonly WaitNode[] }) {
  if (nodes.length === 0) return null;
  return (
    <ul>
      {nodes.map(({ wait, behind }) => (
        <li key={wait.pid}>
          {wait.session ? <SessionText session={wait.session} /> : <span>Process {wait.pid}</span>}{' '}
          <span className="quiet">
            has waited {duration(wait.seconds)} for <Target wait={wait} />
          </span>
          <Waits nodes={behind} />
        </li>
      ))}
    </ul>
  );
}

function Target({ wait: { lock, relation } }: { wait: WaitNode['wait'] }) {
  const kind = lock === 'transactionid' || lock === 'tuple' ? 'row' : lock;
  return (
    <>
      {/^[aeio]/.test(kind) ? 'an' : 'a'} {kind} lock
      <Named name={relation} words=" on " />
    </>
  );
}

function SessionText({ session: { pid, database, role, application, state } }: { session: TreeSession }) {
  return (
    <>
      <bdi className="mono">{role || 'unknown role'}</bdi>
      <Named name={application} words=" with " />
      <Named name={database} words=" in " />
      <span className="quiet">
        {' '}
        (process {pid}
        {state && `, ${state}`})
      </span>
    </>
  );
}

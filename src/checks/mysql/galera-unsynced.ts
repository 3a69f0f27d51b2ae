import type { Check, ServerFacts } from '../check.ts';
import type { Fault } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { percent } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';

/**
 * The share of time in which flow control paused the cluster's writes; dbvitals' own. It is not judged if
 * two runs are closer than these seconds.
 */
const thresholds = { warning: 0.02, minimum_seconds: 5 };

const FLOW_CONTROL = 'flow control';
const [PAUSED, SYNCED, DONOR] = ['wsrep_flow_control_paused_ns', 4, 2];

// A node without a quorum refuses every select from a table, even of information_schema, with error 1047. SHOW works.
const sql = figures({
  status: [
    'Uptime',
    'wsrep_connected',
    'wsrep_ready',
    'wsrep_cluster_status',
    'wsrep_local_state',
    'wsrep_local_state_comment',
    PAUSED,
  ],
  variables: ['wsrep_provider', 'wsrep_on', 'wsrep_desync'],
});

/** A Galera node that does not fully take part in its cluster, or slows down the writes of all others. */
export const galeraUnsynced: Check<typeof thresholds> = {
  id: 'MY_GALERA_UNSYNCED',
  title: 'Galera node is not in sync',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  comparesRuns: true,
  thresholds,
  sql: () => sql,
  judge: (rows, facts) => {
    const node = new Figures(rows);
    const uptime = node.number('Uptime');
    const none = { faults: [], passMessage: 'This server is not a Galera node.', measures: [] };
    if (!node.has('wsrep_provider') || ['none', ''].includes(node.text('wsrep_provider'))) return none;
    if (!replicates(node) && !node.on('wsrep_connected')) return none;

    const state = stateFault(node);
    const paused = pausedShare(node, uptime, facts);
    const { warning } = facts.thresholds;
    const faults = state ? [state] : [];
    const measure: Measure = {
      metric: 'flow_control_paused_ratio',
      object: FLOW_CONTROL,
      value: Number(paused),
      operator: '>=',
      warning,
      critical: null,
    };
    if (typeof paused === 'number' && paused >= warning)
      faults.push({
        severity: 'warning',
        object: FLOW_CONTROL,
        measured: faultMeasure(measure),
        metricLine: `Flow control paused the cluster's writes for ${percent(paused)} of the time since the last run; find the slow node, and use more applier threads there.`,
        remediation: `SHOW GLOBAL STATUS LIKE 'wsrep_flow_control_sent'; -- on each node: the one where it rises is slow. Check its disk, and raise its wsrep_slave_threads (wsrep_applier_threads of Percona)`,
      });
    const passMessage = `The node is synced; flow control took ${typeof paused === 'number' ? percent(paused) : 'an unknown share'} of the time since the last run.`;
    if (typeof paused === 'number') return { faults, passMessage, measures: [measure] };
    return faults.length > 0
      ? { faults, passMessage, measures: [], truncated: true }
      : { skipped: `Not measured: flow control (${paused}).` };
  },
};

/** In Percona `wsrep_on` exists only per session. */
function replicates(node: Figures): boolean {
  return !node.has('wsrep_on') || node.on('wsrep_on');
}

function stateFault(node: Figures): Fault | null {
  const says = (severity: Fault['severity'], metricLine: string, remediation: string): Fault => ({
    severity,
    object: null,
    metricLine,
    remediation,
  });
  const look = "SHOW GLOBAL STATUS LIKE 'wsrep_%';";
  if (!replicates(node))
    return says(
      'critical',
      'wsrep_on is OFF on this node, so its writes are not replicated; turn it on, and compare with the other nodes.',
      'SET GLOBAL wsrep_on = ON;',
    );
  if (node.text('wsrep_cluster_status') !== 'Primary')
    return says(
      'critical',
      `The node has no quorum (${node.text('wsrep_cluster_status')}), so it refuses queries; repair its network to the other nodes, or start them.`,
      `${look} -- wsrep_incoming_addresses lists the nodes that it still sees; it rejoins by itself. Only if no node anywhere is Primary: pc.bootstrap, on one node`,
    );
  const state = node.text('wsrep_local_state_comment');
  if (!node.on('wsrep_ready'))
    return says(
      'critical',
      `The node is not ready (${state}), so it refuses queries; wait for its state transfer, or restart it and read its log.`,
      `${look} -- its log says whether a state transfer is running`,
    );
  const local = node.number('wsrep_local_state');
  if (local === SYNCED) return null;
  return says(
    'warning',
    `The node is ${state}, so it may lag, and the cluster does not wait for it; ${local === DONOR ? 'end what keeps it in that state' : 'wait until it has caught up'}.`,
    node.on('wsrep_desync')
      ? 'SET GLOBAL wsrep_desync = OFF;'
      : `${look} -- a donor, or a node that has just joined, recovers by itself; wsrep_local_recv_queue shows what it still has to apply`,
  );
}

/** The share of time since the last run, or the reason why it is not known. */
function pausedShare(
  node: Figures,
  uptime: number,
  { before, thresholds: { minimum_seconds } }: ServerFacts<typeof thresholds>,
): number | string {
  if (!before) return 'it takes two runs, and this is the first';
  if (before.seconds < minimum_seconds) return `the last run was less than ${minimum_seconds} s ago`;
  const last = new Figures(before.rows);
  if (uptime < before.seconds || !last.has(PAUSED) || !node.has(PAUSED))
    return 'the node was not up and connected since the last run';
  const risen = node.number(PAUSED) - last.number(PAUSED);
  return risen < 0 ? 'its counters were reset since the last run' : risen / 1e9 / before.seconds;
}

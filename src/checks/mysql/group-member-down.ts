import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, textIn, textOrNone } from '../columns.ts';
import type { Fault, Row } from '../fault.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { shownText } from './server-texts.ts';

const settings = figures({ variables: ['performance_schema', 'read_only', 'group_replication_group_name'] });

const RECOVERY_LOGIN =
  "SELECT user FROM performance_schema.replication_connection_configuration WHERE channel_name = 'group_replication_recovery';";

// A server shows only its own login for recovery, and '' for one that START GROUP_REPLICATION named: that ends with the server.
const members = `
  select member_host as host,
         member_port as port,
         member_state as state,
         case when member_id in (@@server_uuid, '') then (
           select user
             from performance_schema.replication_connection_configuration
            where channel_name = 'group_replication_recovery') end as recovery_login
    from performance_schema.replication_group_members
   order by member_host, member_port
   limit ${FAULT_LIMIT + 1}`;

/** What each state but ONLINE means for a member, and what to do; RECOVERING ends by itself. */
const STATES: Readonly<Record<string, string>> = {
  RECOVERING: 'is still catching up; look at its log if that does not end',
  OFFLINE: 'has left its group; start group replication there',
  ERROR: 'failed and applies nothing; read its log, then restart group replication there',
  UNREACHABLE: 'does not answer the group; check it and the network, and restart it',
};

/** Members of a MySQL replication group that are not online. MariaDB has no group replication. */
export const groupMemberDown: Check = {
  id: 'MY_GROUP_MEMBER_DOWN',
  title: 'Group member not online',
  category: 'replication',
  maxSeverity: 'critical',
  volatile: true,
  scope: 'server',
  privilege: () => 'SELECT ON performance_schema.*',
  sql: (version) => (isMariaDb(version) ? settings : [...settings, members]),
  judge: (rows) => {
    const set = new Figures(rows);
    set.text('read_only');
    const found = rows.filter((row) => 'state' in row);
    const none = { faults: [], passMessage: 'This server is not in a replication group.', measures: [] };
    // The variable exists if the plugin is loaded.
    if (!set.has('group_replication_group_name') || set.text('group_replication_group_name') === '')
      return none;
    if (!set.on('performance_schema'))
      return {
        skipped: 'Not measured: performance_schema is off, and nothing else shows the group.',
      };
    const down = found.length === 0 ? [stopped] : found.filter((row) => textIn(row, 'state') !== 'ONLINE');
    return {
      faults: down.slice(0, FAULT_LIMIT).map(fault),
      passMessage: `${counted(found.length, 'member')} of the group, all online.`,
      measures: [countOf('group_members_down_count', down.length)],
      truncated: found.length > FAULT_LIMIT,
    };
  },
};

/** A group name is set, but the server shows no member, not even itself. */
const stopped: Row = { host: '', port: null, state: 'OFFLINE', recovery_login: null };

function fault(row: Row): Fault {
  const [host, state] = [textIn(row, 'host'), textIn(row, 'state')];
  // A server outside of a group shows only itself, some versions without a name.
  const object = host === '' ? null : `${shownText('host', host)}:${numberIn(row, 'port')}`;
  return {
    severity: state === 'RECOVERING' ? 'warning' : 'critical',
    object,
    metricLine: `${object === null ? 'This server' : `Member ${object}`} ${STATES[state] ?? `is ${state}`}.`,
    remediation:
      state === 'OFFLINE' || state === 'ERROR'
        ? startAgain(state, object, (textOrNone(row, 'recovery_login') ?? '') !== '')
        : 'SELECT member_host, member_port, member_state FROM performance_schema.replication_group_members; -- on another member too: it may see other states',
  };
}

/** Starts group replication. Without a kept login, a member that lacks transactions would stay RECOVERING and then fail. */
function startAgain(state: 'OFFLINE' | 'ERROR', object: string | null, keepsLogin: boolean): string {
  const stop = state === 'ERROR' ? 'STOP GROUP_REPLICATION; ' : '';
  const when = [object === null ? '' : `on ${object}`, state === 'ERROR' ? 'after you have read its log' : '']
    .filter((part) => part !== '')
    .join(', ');
  if (keepsLogin) return `${stop}START GROUP_REPLICATION;${when === '' ? '' : ` -- ${when}`}`;
  const there = when === '' ? '' : `, ${when}`;
  return `${RECOVERY_LOGIN} -- if it shows no name, the server keeps no login for recovery: run ${stop}START GROUP_REPLICATION USER = 'name', PASSWORD = 'password'; with the replication login of the group${there}; without USER and PASSWORD if it shows one`;
}

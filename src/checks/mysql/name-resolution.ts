import type { Check } from '../check.ts';
import { numberIn } from '../columns.ts';
import type { Measure } from '../measure.ts';
import { counted, grouped } from '../wording.ts';
import { faultMeasure } from '../worst-measures.ts';
import { COLUMNS } from './account-check.ts';
import { Figures, figures } from './figures.ts';
import { isMariaDb } from './flavour.ts';
import { setAtStart } from './setting-check.ts';

/** Client addresses without a name; dbvitals' own. */
const thresholds = { info: 1 };

const NAMED = 'by_name';

// An account at localhost or an address needs no name, nor does a role, whose host is empty.
const accountsByName = (table: string) => `
  select count(*) as ${NAMED}
    from ${table}
   where host not in ('', 'localhost')
     and host not regexp '^[0-9.%_/]+$'
     and not (host like '%:%' and host regexp '^[0-9a-fA-F:.%_/]+$')`;

const clients = `
  select count(*) as addresses,
         cast(coalesce(sum(host is null and count_nameinfo_transient_errors + count_nameinfo_permanent_errors
                                            + count_addrinfo_transient_errors + count_addrinfo_permanent_errors
                                            + count_fcrdns_errors > 0), 0) as signed) as unnamed
    from performance_schema.host_cache`;

/** The server looks up names of clients that have none, and no account needs a name. */
export const nameResolution: Check<typeof thresholds> = {
  id: 'MY_NAME_RESOLUTION',
  title: 'Names of clients looked up in vain',
  category: 'connections',
  maxSeverity: 'info',
  volatile: false,
  scope: 'server',
  thresholds,
  privilege: (version) => [
    'SELECT ON performance_schema.*',
    isMariaDb(version) ? 'SELECT ON mysql.global_priv' : COLUMNS,
  ],
  sql: (version) => [
    ...figures({
      variables: ['skip_name_resolve', 'performance_schema', 'host_cache_size', 'skip_networking'],
    }),
    accountsByName(isMariaDb(version) ? 'mysql.global_priv' : 'mysql.user'),
    clients,
  ],
  judge: (rows, facts) => {
    const settings = new Figures(rows);
    const none = (passMessage: string) => ({ faults: [], measures: [], passMessage });
    if (settings.on('skip_name_resolve')) return none('The server looks up no names of clients.');
    if (settings.on('skip_networking')) return none('The server has no clients on a network.');
    if (!settings.on('performance_schema') || settings.number('host_cache_size') === 0)
      return {
        skipped:
          'Not measured: with performance_schema off or host_cache_size 0 the server does not show whose names it looked up.',
      };
    const row = (column: string) => rows.find((each) => column in each) ?? {};
    const accounts = numberIn(row(NAMED), NAMED);
    const [addresses, unnamed] = [
      numberIn(row('addresses'), 'addresses'),
      numberIn(row('unnamed'), 'unnamed'),
    ];
    const words = `${grouped(unnamed)} of ${counted(addresses, 'client address', 'client addresses')} have no name that the server can look up`;
    const { info } = facts.thresholds;
    const scale = {
      metric: 'clients_without_name_count',
      object: null,
      value: unnamed,
      critical: null,
    } as const;
    // With accounts by name, the look-ups are needed.
    const measure: Measure =
      accounts === 0
        ? { ...scale, operator: '>=', warning: info }
        : { ...scale, operator: null, warning: null };
    if (accounts > 0)
      return {
        faults: [],
        measures: [measure],
        passMessage: `${counted(accounts, 'account')} with a host name: names of clients are needed.`,
      };
    const then = setAtStart(facts, 'skip_name_resolve', 'ON');
    return {
      passMessage: `${words}.`,
      measures: [measure],
      faults:
        unnamed < info
          ? []
          : [
              {
                severity: 'info',
                object: null,
                metricLine: `${words}, and no account needs one: a slow name server delays new connections for nothing; turn skip_name_resolve on.`,
                remediation: `SELECT user, host FROM mysql.user WHERE host = 'localhost'; -- then, if none of these logs in over TCP (127.0.0.1 will no longer be localhost): ${then}`,
                measured: faultMeasure(measure),
              },
            ],
    };
  },
};

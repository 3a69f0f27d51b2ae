import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Row } from '../fault.ts';
import type { Measure } from '../measure.ts';
import { counted } from '../wording.ts';
import { countOf, faultMeasure, worstOf } from '../worst-measures.ts';
import { unseenSessions } from './session-check.ts';

// Loopback traffic stays on the machine; a Unix socket has no address. GSSAPI encryption is as good as TLS.
const sql = `
  select pg_has_role('pg_read_all_stats', 'usage') as sees_all,
         quote_ident(current_user) as me,
         current_setting('ssl')::bool as tls_on,
         session.*
    from (select) one_row
    left join (
      select coalesce(quote_ident(a.datname), '') as database,
             coalesce(quote_ident(a.usename), '') as role,
             quote_ident(a.application_name) as application,
             count(*)::int as sessions
        from pg_stat_activity a
        join pg_stat_ssl s on s.pid = a.pid
        left join pg_stat_gssapi g on g.pid = a.pid
       where a.client_addr is not null
         and not a.client_addr <<= '127.0.0.0/8'
         and not a.client_addr <<= '::ffff:127.0.0.0/104'
         and a.client_addr <> '::1'
         and not s.ssl
         and g.encrypted is not true
       group by a.datname, a.usename, a.application_name
       order by sessions desc, role, database, application
       limit ${FAULT_LIMIT + 1}
    ) session on true`;

const METRIC = 'sessions_without_tls_count';

function measure(row: Row): Measure {
  const object = `${textIn(row, 'database')}/${textIn(row, 'role')}/${textIn(row, 'application')}`;
  return { ...countOf(METRIC, numberIn(row, 'sessions')), object };
}

/** Unencrypted sessions from other machines: anyone on the network path can read queries, rows and perhaps the password. */
export const noTls: Check = {
  id: 'PG_NO_TLS',
  title: 'Remote session without TLS',
  category: 'security',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'server',
  sql: () => sql,
  judge: (rows) => {
    const first = onlyRow(rows.slice(0, 1));
    const passMessage = 'Every remote session is encrypted.';
    const unseen = unseenSessions(first);
    if (unseen) return unseen;
    const found = rows.filter(({ sessions }) => sessions !== null);
    const all = found.reduce((sum, row) => sum + numberIn(row, 'sessions'), 0);
    const turnOn =
      first['tls_on'] === true
        ? ''
        : 'give the server a certificate and a key, without which it would not start again, run ALTER SYSTEM SET ssl = on; ';
    return {
      passMessage,
      measures: [countOf(METRIC, all), ...worstOf(found.map(measure))],
      truncated: found.length > FAULT_LIMIT,
      faults: found.slice(0, FAULT_LIMIT).map((row) => {
        const measured = measure(row);
        const [database, role, application] = [
          textIn(row, 'database'),
          textIn(row, 'role'),
          textIn(row, 'application'),
        ];
        return {
          severity: 'warning',
          object: measured.object,
          measured: faultMeasure(measured),
          metricLine: `Role ${role}, application ${application}, database ${database}: ${counted(numberIn(row, 'sessions'), 'session')} from other machines without TLS; require it.`,
          remediation: `SELECT name, setting FROM pg_settings WHERE name IN ('ssl', 'ssl_cert_file', 'ssl_key_file', 'hba_file'); -- then ${turnOn}change the "host" lines of pg_hba.conf for role ${role} to "hostssl", and run SELECT pg_reload_conf();`,
        };
      }),
    };
  },
};

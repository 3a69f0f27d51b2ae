import type { Check, Fault } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import { isMariaDb } from './flavour.ts';
import { quoted } from './quote.ts';

// A password hash could be cracked, so it stays on the server: the statement returns only its properties.
// Old: the 16 digits from before MySQL 4.1.
const kind = (hash: string) => `
         coalesce(${hash}, '') = '' as no_password,
         char_length(${hash}) = 16 as old_hash`;

// A MariaDB account may have several methods: auth_or lists them, {} is the one next to it. Roles have no host.
const ofMariaDb = `
  select account.user,
         account.host,
         coalesce(way.plugin, json_value(account.priv, '$.plugin'), 'mysql_native_password') as plugin,${kind(`if(way.plugin is null, json_value(account.priv, '$.authentication_string'), way.hash)`)}
    from mysql.global_priv account
    join json_table(coalesce(json_query(account.priv, '$.auth_or'), '[{}]'), '$[*]'
                    columns (plugin varchar(64) path '$.plugin',
                             hash varchar(512) path '$.authentication_string')) way
   where coalesce(json_value(account.priv, '$.account_locked'), '0') not in ('1', 'true')
     and coalesce(json_value(account.priv, '$.is_role'), '0') not in ('1', 'true')`;

const ofMySql = `
  select user,
         host,
         plugin,${kind('authentication_string')}
    from mysql.user
   where account_locked = 'N'`;

/** What differs between the checks of the server's accounts. */
interface AccountCheck extends Pick<Check, 'id' | 'title'> {
  severity: Fault['severity'];
  /** A condition that selects the faulty authentication methods (user, host, plugin, no_password, old_hash). */
  where: (version: number) => string;
  /** `account` as written in ALTER USER; `user` may be empty. */
  fault: (account: string, user: string, version: number) => Pick<Fault, 'metricLine' | 'remediation'>;
  /** After "None of 7 accounts": `is …`. */
  well: string;
  /** The metric of how many accounts have the fault. */
  countMetric: string;
}

/** A check with a finding for each unlocked account with a faulty authentication method. */
export function accountCheck({ severity, where, fault, well, countMetric, ...named }: AccountCheck): Check {
  return {
    ...named,
    category: 'security',
    maxSeverity: severity,
    volatile: false,
    scope: 'server',
    privilege: (version) =>
      isMariaDb(version)
        ? 'SELECT ON mysql.global_priv'
        : 'SELECT (user, host, plugin, authentication_string, account_locked) ON mysql.user',
    sql: (version) => {
      const ways = isMariaDb(version) ? ofMariaDb : ofMySql;
      return [
        `select cast(count(distinct user, host) as signed) as accounts,
                cast(count(distinct if(${where(version)}, user, null), host) as signed) as faulty
           from (${ways}) way`,
        `select distinct user as user, host as host
           from (${ways}) way
          where ${where(version)}
          order by user, host
          limit ${FAULT_LIMIT + 1}`,
      ];
    },
    judge: (rows, { version }) => {
      const first = onlyRow(rows.slice(0, 1));
      const accounts = numberIn(first, 'accounts');
      const picked = rows.slice(1);
      return {
        passMessage: `None of ${counted(accounts, 'account')} ${well}.`,
        measures: [countOf(countMetric, numberIn(first, 'faulty'))],
        truncated: picked.length > FAULT_LIMIT,
        faults: picked.slice(0, FAULT_LIMIT).map((row) => {
          const user = textIn(row, 'user');
          const account = `${quoted(user)}@${quoted(textIn(row, 'host'))}`;
          return { severity, object: account, ...fault(account, user, version) };
        }),
      };
    },
  };
}

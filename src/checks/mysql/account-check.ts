import type { Check } from '../check.ts';
import { FAULT_LIMIT } from '../check.ts';
import { numberIn, onlyRow, textIn } from '../columns.ts';
import type { Fault } from '../fault.ts';
import { counted } from '../wording.ts';
import { countOf } from '../worst-measures.ts';
import { isMariaDb } from './flavour.ts';
import { quoted } from './quote.ts';

// A password hash could be cracked, so it stays on the server: the statement returns only its properties.
// Old: the 16 digits from before MySQL 4.1. Set: a hash that a password can match, unlike MariaDB's "invalid".
// Loaded: MySQL 9 keeps accounts of mysql_native_password, which no longer exists, and refuses them.
const kind = (hash: string, plugin: string) => `
         coalesce(${hash}, '') = '' as no_password,
         char_length(${hash}) = 16 as old_hash,
         coalesce(${hash}, '') <> ''
           and (${plugin} <> 'mysql_native_password' or (${hash} like '*%' and char_length(${hash}) = 41)) as password_set,
         ${plugin} in (select plugin_name from information_schema.plugins where plugin_status = 'ACTIVE') as loaded`;

/** The bits of MariaDB's global privileges that are GRANT OPTION, SUPER and CREATE USER. */
const ADMINISTERS = 2 ** 10 + 2 ** 15 + 2 ** 25;

const plugin = `coalesce(way.plugin, json_value(account.priv, '$.plugin'), 'mysql_native_password')`;
const hash = `if(way.plugin is null, json_value(account.priv, '$.authentication_string'), way.hash)`;

// A MariaDB account may have several methods: auth_or lists them, {} is the one next to it. Roles have no host.
const ofMariaDb = `
  select account.user,
         account.host,
         ${plugin} as plugin,${kind(hash, plugin)},
         cast(json_value(account.priv, '$.access') as unsigned) & ${ADMINISTERS} = ${ADMINISTERS} as administers
    from mysql.global_priv account
    join json_table(coalesce(json_query(account.priv, '$.auth_or'), '[{}]'), '$[*]'
                    columns (plugin varchar(64) path '$.plugin',
                             hash varchar(512) path '$.authentication_string')) way
   where coalesce(json_value(account.priv, '$.account_locked'), '0') not in ('1', 'true')
     and coalesce(json_value(account.priv, '$.is_role'), '0') not in ('1', 'true')`;

const ofMySql = (administers: string) => `
  select user,
         host,
         plugin,${kind('authentication_string', 'plugin')},
         ${administers} as administers
    from mysql.user
   where account_locked = 'N'`;

/** The condition for an account that is `root` and open to other machines. */
export const REMOTE_ROOT = `user = 'root'
            and host not in ('localhost', '127.0.0.1', '::1', '')
            and lower(host) <> lower(@@global.hostname)`;

// Accounts with all privileges that somebody can surely use, from the server's machine at least. Those that another
// finding asks to close do not count, nor do roles: whether somebody may take one is not shown to the monitor.
const KEEPER = `administers and loaded and host in ('localhost', '%') and user not like 'mysql.%'
            and user not in ('', 'mariadb.sys') and not (${REMOTE_ROOT})
            and if(plugin in ('unix_socket', 'auth_socket'), host = 'localhost',
                   password_set and not old_hash and plugin in ('caching_sha2_password', 'sha256_password',
                                                               'mysql_native_password', 'ed25519', 'parsec'))`;

/** An account with a fault, and what its remediation must know. */
export interface Account {
  /** As ALTER USER expects it: `` `app`@`%` ``. */
  name: string;
  /** Empty if it is anonymous. */
  user: string;
  /** dbvitals itself logs in with it. */
  own: boolean;
  /** A session with this user name sends the binary log to a replica. Known only with PROCESS. */
  replicates: boolean;
  /** Other administrators that can log in; 0 if the check does not ask for {@link AccountCheck.keepers}. */
  keepers: number;
  /** The server accepts no change of an account, as on a replica. */
  readOnly: boolean;
}

/** What differs between the checks of the server's accounts. */
interface AccountCheck extends Pick<Check, 'id' | 'title'> {
  severity: Fault['severity'];
  /** A condition that selects the faulty authentication methods by their columns. */
  where: (version: number) => string;
  fault: (account: Account, version: number) => Pick<Fault, 'metricLine' | 'remediation'>;
  /** After "None of 7 accounts": `is …`. */
  well: string;
  /** The metric of how many accounts have the fault. */
  countMetric: string;
  /** The check counts other administrators. MySQL then asks for three more columns. */
  keepers?: true;
}

/** What the checks of accounts read on MySQL. */
export const COLUMNS = 'SELECT (user, host, plugin, authentication_string, account_locked) ON mysql.user';
const KEEPER_COLUMNS = 'SELECT (super_priv, create_user_priv, grant_priv) ON mysql.user';

/** A check with a finding for each unlocked account with a faulty authentication method. */
export function accountCheck(given: AccountCheck): Check {
  const { severity, where, fault, well, countMetric, keepers, ...named } = given;
  return {
    ...named,
    category: 'security',
    maxSeverity: severity,
    volatile: false,
    scope: 'server',
    privilege: (version) => {
      if (isMariaDb(version)) return 'SELECT ON mysql.global_priv';
      return keepers ? [COLUMNS, KEEPER_COLUMNS] : COLUMNS;
    },
    sql: (version) => {
      const administers = keepers ? `super_priv = 'Y' and create_user_priv = 'Y' and grant_priv = 'Y'` : '0';
      const ways = isMariaDb(version) ? ofMariaDb : ofMySql(administers);
      return [
        `select cast(count(distinct user, host) as signed) as accounts,
                cast(count(distinct if(${where(version)}, user, null), host) as signed) as faulty,
                cast(count(distinct if(${KEEPER}, user, null), host) as signed) as keepers,
                @@global.${isMariaDb(version) ? 'read_only' : 'super_read_only'} as read_only
           from (${ways}) way`,
        `select distinct user as user,
                host as host,
                concat(user, '@', host) = current_user() as own,
                exists (select 1 from information_schema.processlist session
                         where session.user = way.user and session.command like 'Binlog Dump%') as replicates
           from (${ways}) way
          where ${where(version)}
          order by user, host
          limit ${FAULT_LIMIT + 1}`,
      ];
    },
    judge: (rows, { version }) => {
      const first = onlyRow(rows.slice(0, 1));
      const accounts = numberIn(first, 'accounts');
      const readOnly = !['0', 'OFF'].includes(String(first['read_only']));
      const picked = rows.slice(1);
      return {
        passMessage: `None of ${counted(accounts, 'account')} ${well}.`,
        measures: [countOf(countMetric, numberIn(first, 'faulty'))],
        truncated: picked.length > FAULT_LIMIT,
        faults: picked.slice(0, FAULT_LIMIT).map((row) => {
          const user = textIn(row, 'user');
          const name = `${quoted(user)}@${quoted(textIn(row, 'host'))}`;
          const [own, replicates] = [numberIn(row, 'own') === 1, numberIn(row, 'replicates') === 1];
          const account = { name, user, own, replicates, readOnly, keepers: numberIn(first, 'keepers') };
          return { severity, object: name, ...fault(account, version) };
        }),
      };
    },
  };
}

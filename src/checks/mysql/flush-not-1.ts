import { isMariaDb } from './flavour.ts';
import { setForGood, settingCheck } from './setting-check.ts';

const NAME = 'innodb_flush_log_at_trx_commit';

/** Commits that are confirmed to the application before they are on disk. */
export const flushNot1 = settingCheck({
  id: 'MY_FLUSH_NOT_1',
  title: 'Commits are not flushed to disk',
  category: 'durability',
  severity: 'warning',
  reads: { variables: [NAME] },
  wrong: (settings, server) => {
    const value = settings.number(NAME);
    // 3 exists in MariaDB only, and flushes more often than 1.
    if (value === 1 || (value === 3 && isMariaDb(server.version))) return undefined;
    const crash = value === 0 ? 'a server crash' : 'a machine crash';
    return {
      metricLine: `${NAME} is ${value}: ${crash} loses the commits of about the last second; set it to 1.`,
      remediation: setForGood(server, NAME, 1),
    };
  },
  passMessage: (settings) => `${NAME} is ${settings.text(NAME)}.`,
});

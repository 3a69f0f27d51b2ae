import { isMariaDb } from './flavour.ts';
import { settingCheck } from './setting-check.ts';

/** No way back to the moment before a mistake, only to the last backup. */
export const binlogOff = settingCheck({
  id: 'MY_BINLOG_OFF',
  title: 'Binary log is off',
  category: 'durability',
  severity: 'warning',
  reads: { variables: ['log_bin'] },
  wrong: (settings, version) => {
    if (settings.on('log_bin')) return undefined;
    return {
      metricLine:
        'log_bin is off: what was written since the last backup cannot be restored, and no replica can be made; turn it on.',
      remediation: isMariaDb(version)
        ? 'Put log_bin = binlog, sync_binlog = 1, binlog_expire_logs_seconds = 864000 and a server_id of its own under [mysqld] in the option file and restart the server.'
        : 'Take skip_log_bin and disable_log_bin out of the option file and restart the server.',
    };
  },
  passMessage: () => 'The binary log is on.',
});

import { isMariaDb } from './flavour.ts';
import { settingCheck } from './setting-check.ts';

/** No point-in-time recovery, only the last backup. */
export const binlogOff = settingCheck({
  id: 'MY_BINLOG_OFF',
  title: 'Binary log is off',
  category: 'durability',
  severity: 'warning',
  reads: { variables: ['log_bin'] },
  wrong: (settings, { version }) => {
    if (settings.on('log_bin')) return undefined;
    return {
      metricLine:
        "log_bin is off: writes since the last backup can't be restored, and the server can't have replicas; turn it on.",
      remediation: isMariaDb(version)
        ? 'Put log_bin = binlog, sync_binlog = 1, binlog_expire_logs_seconds = 864000 and a unique server_id under [mysqld] in the option file and restart the server.'
        : 'Remove skip_log_bin and disable_log_bin from the option file and restart the server.',
    };
  },
  passMessage: () => 'The binary log is on.',
});

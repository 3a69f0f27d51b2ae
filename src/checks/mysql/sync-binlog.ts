import { setForGood, settingCheck } from './setting-check.ts';

/** A binary log that may lack commits after a crash. */
export const syncBinlog = settingCheck({
  id: 'MY_SYNC_BINLOG',
  title: 'Binary log is not flushed to disk',
  category: 'durability',
  severity: 'warning',
  reads: { variables: ['log_bin', 'sync_binlog'] },
  wrong: (settings, server) => {
    const value = settings.number('sync_binlog');
    if (!settings.on('log_bin') || value === 1) return undefined;
    return {
      metricLine: `sync_binlog is ${value}: after a machine crash the binary log lacks commits, and replicas differ from this server; set it to 1.`,
      remediation: setForGood(server, 'sync_binlog', 1),
    };
  },
  passMessage: (settings) => (settings.on('log_bin') ? 'sync_binlog is 1.' : 'The binary log is off.'),
});

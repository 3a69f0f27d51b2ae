import { duration, size } from '../wording.ts';
import type { Figures } from './figures.ts';
import { setForGood, settingCheck } from './setting-check.ts';

// Ten days, as Debian's packages set for MariaDB; MySQL's own default is thirty.
const TEN_DAYS = 864_000;
const PURGE = 'binlog_expire_logs_auto_purge';

/** Binary logs that are never removed fill the disk. */
export const binlogNoExpiry = settingCheck({
  id: 'MY_BINLOG_NO_EXPIRY',
  title: 'Binary logs never expire',
  category: 'configuration',
  severity: 'warning',
  reads: {
    variables: ['log_bin', 'binlog_expire_logs_seconds', 'expire_logs_days', 'max_binlog_total_size', PURGE],
  },
  wrong: (settings, server) => {
    if (!settings.on('log_bin')) return undefined;
    if (settings.has(PURGE) && !settings.on(PURGE)) {
      return {
        metricLine: `${PURGE} is off: binary logs stay until the disk is full; turn it on.`,
        remediation: setForGood(server, PURGE, 'ON'),
      };
    }
    if (keptSeconds(settings) > 0 || keptBytes(settings) > 0) return undefined;
    return {
      metricLine:
        'binlog_expire_logs_seconds is 0: binary logs stay until the disk is full; set how long to keep them.',
      remediation: setForGood(server, 'binlog_expire_logs_seconds', TEN_DAYS),
    };
  },
  passMessage: (settings) => {
    if (!settings.on('log_bin')) return 'The binary log is off.';
    const [seconds, bytes] = [keptSeconds(settings), keptBytes(settings)];
    return seconds > 0
      ? `Binary logs are removed after ${duration(seconds)}.`
      : `Binary logs are removed beyond ${size(bytes)}.`;
  },
});

/** 0 = for ever. MySQL before 8.4 lets either be set. */
function keptSeconds(settings: Figures): number {
  const days = settings.has('expire_logs_days') ? settings.number('expire_logs_days') : 0;
  return Math.max(settings.number('binlog_expire_logs_seconds'), days * 86_400);
}

/** 0 = any number; of MariaDB from 11.4 on. */
function keptBytes(settings: Figures): number {
  return settings.has('max_binlog_total_size') ? settings.number('max_binlog_total_size') : 0;
}

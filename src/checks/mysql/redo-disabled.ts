import { isMariaDb } from './flavour.ts';
import { settingCheck } from './setting-check.ts';

const NAME = 'Innodb_redo_log_enabled';

/** MySQL without its redo log: a crash destroys the data. */
export const redoDisabled = settingCheck({
  id: 'MY_REDO_DISABLED',
  title: 'Redo log is disabled',
  category: 'durability',
  severity: 'critical',
  reads: { status: [NAME] },
  absent: (version) => {
    if (isMariaDb(version)) return 'MariaDB always writes its redo log';
    return version < 80_021 ? 'MySQL before 8.0.21 always writes its redo log' : undefined;
  },
  wrong: (settings) => {
    if (settings.on(NAME)) return undefined;
    return {
      metricLine:
        'The redo log is disabled: after a crash the server would refuse to start with its data; enable it.',
      remediation: 'ALTER INSTANCE ENABLE INNODB REDO_LOG;',
    };
  },
  passMessage: () => 'The redo log is enabled.',
});

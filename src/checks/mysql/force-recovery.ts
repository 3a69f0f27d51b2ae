import { settingCheck } from './setting-check.ts';

const NAME = 'innodb_force_recovery';

/** A mode for dumping data from a damaged server, not for production. */
export const forceRecovery = settingCheck({
  id: 'MY_FORCE_RECOVERY',
  title: 'InnoDB runs in forced recovery',
  category: 'durability',
  severity: 'critical',
  reads: { variables: [NAME] },
  wrong: (settings) => {
    const level = settings.number(NAME);
    if (level === 0) return undefined;
    return {
      metricLine: `${NAME} is ${level}: InnoDB skips damaged data${level >= 4 ? ' and may damage more' : ''}; dump the data, rebuild the server from the dump, and set it to 0.`,
      remediation: `Dump all data, load the dump into a new server, and leave ${NAME} out of its option file.`,
    };
  },
  passMessage: () => `${NAME} is 0.`,
});

import { settingCheck } from './setting-check.ts';

const NAME = 'innodb_doublewrite';

/** Pages that were half written during a crash stay corrupt. */
export const doublewriteOff = settingCheck({
  id: 'MY_DOUBLEWRITE_OFF',
  title: 'Doublewrite is off',
  category: 'durability',
  severity: 'critical',
  reads: { variables: [NAME] },
  wrong: (settings) => {
    const value = settings.text(NAME).toUpperCase();
    // MySQL's DETECT_AND_RECOVER is ON, MariaDB's FAST is ON with fewer flushes; DETECT_ONLY can't repair a page.
    if (['ON', '1', 'DETECT_AND_RECOVER', 'FAST'].includes(value)) return undefined;
    return {
      metricLine: `${NAME} is ${value}: a page that was half written during a crash stays corrupt; turn it on.`,
      remediation: `Put ${NAME} = ON under [mysqld] in the option file and restart the server.`,
    };
  },
  passMessage: (settings) => `${NAME} is ${settings.text(NAME)}.`,
});

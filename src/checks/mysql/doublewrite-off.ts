import { isMariaDb } from './flavour.ts';
import { type Server, setAtStart, settingCheck } from './setting-check.ts';

const NAME = 'innodb_doublewrite';

/** Pages that were half written during a crash stay corrupt. */
export const doublewriteOff = settingCheck({
  id: 'MY_DOUBLEWRITE_OFF',
  title: 'Doublewrite is off',
  category: 'durability',
  severity: 'critical',
  reads: { variables: [NAME] },
  wrong: (settings, server) => {
    const value = settings.text(NAME).toUpperCase();
    // MySQL's DETECT_AND_RECOVER is ON, MariaDB's FAST is ON with fewer flushes; DETECT_ONLY can't repair a page.
    if (['ON', '1', 'DETECT_AND_RECOVER', 'FAST'].includes(value)) return undefined;
    return {
      metricLine: `${NAME} is ${value}: a page that was half written during a crash stays corrupt; turn it on.`,
      remediation: dynamic(value, server)
        ? `SET GLOBAL ${NAME} = 'ON'; -- and ${NAME} = ON under [mysqld] in the option file`
        : setAtStart(server, NAME, 'ON'),
    };
  },
  passMessage: (settings) => `${NAME} is ${settings.text(NAME)}.`,
});

/**
 * Whether the running server turns it on. MySQL from 8.0.30 on only if it is not OFF, because OFF makes no doublewrite
 * files at the start (error 1210), and SET PERSIST refuses it in 9.7. MariaDB 11.8 does, 10.11 does not.
 */
function dynamic(value: string, { version, provider }: Server): boolean {
  if (provider) return false;
  return isMariaDb(version) ? version >= 110_400 : value === 'DETECT_ONLY';
}

import { setForGood, settingCheck } from './setting-check.ts';

/** Values that do not fit are changed instead of rejected. */
export const sqlModeLax = settingCheck({
  id: 'MY_SQL_MODE_LAX',
  title: 'sql_mode is not strict',
  category: 'configuration',
  severity: 'warning',
  reads: { variables: ['sql_mode'] },
  wrong: (settings, server) => {
    const modes = settings
      .text('sql_mode')
      .split(',')
      .filter((mode) => /^\w+$/.test(mode));
    // The server shows TRADITIONAL with the strict modes that it implies.
    if (modes.some((mode) => mode === 'STRICT_TRANS_TABLES' || mode === 'STRICT_ALL_TABLES'))
      return undefined;
    return {
      metricLine:
        'sql_mode has no STRICT_TRANS_TABLES: values that do not fit are truncated or stored as 0, with a warning that nobody reads; add it.',
      remediation: setForGood(server, 'sql_mode', `'${['STRICT_TRANS_TABLES', ...modes].join(',')}'`),
    };
  },
  passMessage: () => 'sql_mode is strict.',
});

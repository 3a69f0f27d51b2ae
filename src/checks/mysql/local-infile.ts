import { setForGood, settingCheck } from './setting-check.ts';

/** The server may request files from clients. */
export const localInfile = settingCheck({
  id: 'MY_LOCAL_INFILE',
  title: 'LOAD DATA LOCAL is allowed',
  category: 'security',
  severity: 'warning',
  reads: { variables: ['local_infile'] },
  wrong: (settings, server) => {
    if (!settings.on('local_infile')) return undefined;
    return {
      metricLine:
        "local_infile is on: an injected LOAD DATA LOCAL can read files on the application's machine; turn it off.",
      remediation: setForGood(server, 'local_infile', 'OFF'),
    };
  },
  passMessage: () => 'local_infile is off.',
});

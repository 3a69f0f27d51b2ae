import { settingOff } from './setting-off.ts';

/** Settings without which a machine crash can destroy the data. */
export const fsyncOff = settingOff({
  id: 'PG_FSYNC_OFF',
  title: 'Crash safety is off',
  category: 'durability',
  severity: 'critical',
  settings: {
    fsync: 'a machine crash can corrupt the whole cluster',
    full_page_writes: 'a page that was half written during a crash stays corrupt',
  },
});

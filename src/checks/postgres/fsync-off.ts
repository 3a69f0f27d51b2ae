import { settingOff } from './setting-off.ts';

/** Settings whose absence lets a crash of the machine destroy the data. */
export const fsyncOff = settingOff({
  id: 'PG_FSYNC_OFF',
  title: 'Crash safety is off',
  category: 'durability',
  settings: {
    fsync: 'a crash of the machine can corrupt the whole cluster',
    full_page_writes: 'a page that was half written at a crash stays broken',
  },
});

import { settingOff } from './setting-off.ts';

/** Without autovacuum, or the counters that it acts on, dead rows pile up and transaction ids run out. */
export const autovacuumOff = settingOff({
  id: 'PG_AUTOVACUUM_OFF',
  title: 'Autovacuum is off',
  category: 'vacuum',
  severity: 'warning',
  settings: {
    autovacuum: 'dead rows pile up and statistics become stale',
    track_counts: 'autovacuum has no counters to act on, so it does nothing',
  },
});

import { wraparoundCheck } from './wraparound-check.ts';

/** Age of each database's oldest multixact id (rows locked by several transactions), relative to wraparound. */
export const mxidWraparound = wraparoundCheck({
  id: 'PG_MXID_WRAPAROUND',
  title: 'Multixact ids near wraparound',
  age: 'mxid_age(datminmxid)',
  noun: 'multixact id',
  unit: 'multixacts',
  metric: 'multixact_id_age_ratio',
});

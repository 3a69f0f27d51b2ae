import { wraparoundCheck } from './wraparound-check.ts';

/** Age of each database's oldest transaction id, relative to wraparound. */
export const xidWraparound = wraparoundCheck({
  id: 'PG_XID_WRAPAROUND',
  title: 'Transaction ids near wraparound',
  age: 'age(datfrozenxid)',
  noun: 'transaction id',
  unit: 'transactions',
  metric: 'transaction_id_age_ratio',
});

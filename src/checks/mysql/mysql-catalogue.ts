import type { Check } from '../check.ts';
import type { Catalogue } from '../engine-catalogue.ts';
import { mysqlChecks } from './mysql-checks.ts';

/** The GRANTs that skipped checks need, all in one finding. */
const MY_PRIVILEGE_MISSING = {
  id: 'MY_PRIVILEGE_MISSING',
  title: 'Privilege missing',
  category: 'configuration',
  maxSeverity: 'info',
  volatile: false,
} as const satisfies Partial<Check>;

/** The checks of MySQL and MariaDB. */
export const mysqlCatalogue: Catalogue = {
  checks: mysqlChecks,
  privilegeMissing: MY_PRIVILEGE_MISSING,
  saturation: 'MY_CONN_SATURATION',
};

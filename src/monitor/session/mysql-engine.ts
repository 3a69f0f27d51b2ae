import { mysqlCatalogue } from '../../checks/mysql/mysql-catalogue.ts';
import { engineVitals } from '../../checks/vitals/engine-vitals.ts';
import type { EngineParts } from './engine-parts.ts';
import { factsOfMysql, isMysqlPrimary } from './mysql-facts.ts';
import { openMysqlSession } from './mysql-session.ts';

/** How MySQL and MariaDB servers are measured. */
export const mysqlEngine: EngineParts = {
  ...mysqlCatalogue,
  vitals: engineVitals.mysql,
  openSession: openMysqlSession,
  readFacts: factsOfMysql,
  isPrimary: isMysqlPrimary,
};

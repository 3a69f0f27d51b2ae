import type { Check } from '../check.ts';
import { onlyRow } from '../columns.ts';

// Grantee 0 is PUBLIC. A database may have dropped its schema public, hence exists.
const sql = `
  select exists (
    select
      from pg_namespace n
      cross join aclexplode(coalesce(n.nspacl, acldefault('n', n.nspowner))) as entry
     where n.nspname = 'public'
       and entry.grantee = 0
       and entry.privilege_type = 'CREATE'
  ) as everyone`;

/** Everyone who can connect can create objects in the schema that others search first. */
export const publicCreate: Check = {
  id: 'PG_PUBLIC_CREATE',
  title: 'Everyone can create objects in public',
  category: 'security',
  maxSeverity: 'warning',
  volatile: false,
  scope: 'database',
  sql: () => sql,
  judge: (rows, { database }) => {
    const passMessage = "PUBLIC can't create objects in the schema public.";
    if (onlyRow(rows)['everyone'] !== true) return { faults: [], measures: [], passMessage };
    return {
      passMessage,
      measures: [],
      faults: [
        {
          severity: 'warning',
          object: 'public',
          metricLine: `Database ${database}: every role can create objects in the schema public and plant functions that other roles call by name; revoke that.`,
          remediation: 'REVOKE CREATE ON SCHEMA public FROM PUBLIC;',
        },
      ],
    };
  },
};

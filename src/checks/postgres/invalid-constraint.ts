import { textIn } from '../columns.ts';
import { isNoMember, notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

// A constraint that is inherited, or belongs to a partition, is validated with its parent's. A NOT ENFORCED one
// (since 18) is never validated.
const candidates = (version: number): string => `
  select format('%I.%I', n.nspname, coalesce(t.typname, c.relname)) as owner_name,
         t.oid is not null as of_domain,
         quote_ident(k.conname) as constraint_name,
         case when t.oid is null
                then format('conname = %L AND conrelid = %L::regclass', k.conname, format('%I.%I', n.nspname, c.relname))
              else format('conname = %L AND contypid = %L::regtype', k.conname, format('%I.%I', n.nspname, t.typname))
         end as condition,
         count(*) over ()::float8 as total, null as unseen
    from pg_constraint k
    left join pg_class c on c.oid = k.conrelid
    left join pg_type t on t.oid = k.contypid
    join pg_namespace n on n.oid = coalesce(t.typnamespace, c.relnamespace)
   where not k.convalidated
     ${version >= 180_000 ? 'and k.conenforced' : ''}
     and k.coninhcount = 0
     and k.conparentid = 0
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('c.oid', 'n.oid')}
     and ${isNoMember('pg_type', 't.oid')}
   order by c.reltuples desc nulls last, owner_name, constraint_name`;

/** Constraints added NOT VALID and not validated since: older rows may violate them. */
export const invalidConstraint = relationCheck({
  id: 'PG_INVALID_CONSTRAINT',
  title: 'Constraint not validated',
  category: 'schema',
  maxSeverity: 'warning',
  among: 'invalid_constraints',
  candidates,
  withoutTables: true,
  countMetric: 'invalid_constraints_count',
  fault: (row) => {
    const owner = textIn(row, 'owner_name');
    const constraint = textIn(row, 'constraint_name');
    const kind = row['of_domain'] === true ? 'domain' : 'table';
    return {
      severity: 'warning',
      object: `${owner}.${constraint}`,
      metricLine: `constraint ${constraint} of ${kind} ${owner} is not validated: older rows may violate it; validate it.`,
      // It fails if a row violates the constraint.
      remediation: `SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE ${textIn(row, 'condition')}; -- then correct the rows that violate it, and run ALTER ${kind.toUpperCase()} ${owner} VALIDATE CONSTRAINT ${constraint};`,
    };
  },
  passMessage: 'Every constraint is validated.',
});

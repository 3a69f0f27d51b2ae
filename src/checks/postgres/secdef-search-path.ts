import { textIn } from '../columns.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

// A body in standard SQL (BEGIN ATOMIC) was parsed when it was made, and uses no search_path. regprocedure writes the name and the argument types as ALTER ROUTINE takes them, qualified under this search_path.
const candidates = `
  select p.oid::regprocedure::text as routine,
         quote_literal(p.oid::regprocedure::text) as literal,
         quote_ident(n.nspname) as schema_name,
         count(*) over ()::float8 as total, null as unseen
    from pg_proc p
    join pg_namespace n on n.oid = p.pronamespace
   where p.prosecdef
     and p.prosqlbody is null
     and not exists (select from unnest(p.proconfig) setting where setting ~ '^search_path=')
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and ${notOfExtension('p.oid', 'n.oid', 'pg_proc')}
   order by routine`;

/** Security definer routines that use their caller's search_path with their owner's rights. */
export const secdefSearchPath = relationCheck({
  id: 'PG_SECDEF_SEARCH_PATH',
  title: 'Security definer without search_path',
  category: 'security',
  maxSeverity: 'warning',
  candidates: () => candidates,
  withoutTables: true,
  countMetric: 'security_definers_without_search_path_count',
  fault: (row) => {
    const routine = textIn(row, 'routine');
    return {
      severity: 'warning',
      object: routine,
      metricLine: `routine ${routine} runs with its owner's rights and its caller's search_path: its caller decides which objects it uses; set its search_path.`,
      // Objects in a schema that is left out would no longer be found.
      remediation: `SELECT pg_get_functiondef(${textIn(row, 'literal')}::regprocedure); -- then find the schemas that it uses, and run ALTER ROUTINE ${routine} SET search_path = ${textIn(row, 'schema_name')}, pg_temp; with each of them before pg_temp`,
    };
  },
  passMessage: 'Every security definer routine has its own search_path.',
});

import { textIn, textOrNone } from '../columns.ts';
import { notOfExtension } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

// Triggers that enforce a constraint are named after an oid, so the finding names the constraint. A partition's
// part of a trigger is enabled with its parent's.
const candidates = `
  select format('%I.%I', n.nspname, c.relname) as table_name,
         case when not t.tgisinternal then quote_ident(t.tgname) end as trigger_name,
         coalesce(quote_ident(k.conname), 'a constraint') as constraint_name,
         string_agg(format('ALTER TABLE %I.%I ENABLE TRIGGER %I;', n.nspname, c.relname, t.tgname), ' ' order by t.tgname) as enable,
         count(*) over ()::float8 as total, null as unseen
    from pg_trigger t
    join pg_class c on c.oid = t.tgrelid
    join pg_namespace n on n.oid = c.relnamespace
    left join pg_constraint k on k.oid = t.tgconstraint
   where t.tgenabled = 'D'
     and c.relpersistence <> 't'
     and n.nspname !~ '^pg_'
     and n.nspname <> 'information_schema'
     and not exists (select from pg_trigger parent where parent.oid = t.tgparentid and parent.tgenabled = 'D')
     and ${notOfExtension('c.oid', 'n.oid')}
   group by 1, 2, 3
   order by trigger_name nulls first, table_name, constraint_name`;

/** Triggers that were disabled and forgotten, including those that enforce foreign keys. */
export const disabledTrigger = relationCheck({
  id: 'PG_DISABLED_TRIGGER',
  title: 'Disabled trigger',
  category: 'schema',
  maxSeverity: 'warning',
  among: 'disabled_triggers',
  candidates: () => candidates,
  withoutTables: true,
  countMetric: 'disabled_triggers_count',
  fault: (row) => {
    const table = textIn(row, 'table_name');
    const trigger = textOrNone(row, 'trigger_name');
    const constraint = textIn(row, 'constraint_name');
    return {
      severity: 'warning',
      object: `${table}.${trigger ?? constraint}`,
      metricLine:
        trigger === undefined
          ? `constraint ${constraint} is not enforced on table ${table} because its triggers are disabled; enable them, and look for rows that violate it.`
          : `trigger ${trigger} of table ${table} is disabled; enable it, or drop it if it is not needed.`,
      // Of a constraint these are its own triggers: ALL would enable those that somebody disabled on purpose too.
      remediation: textIn(row, 'enable'),
    };
  },
  passMessage: 'No trigger is disabled.',
});

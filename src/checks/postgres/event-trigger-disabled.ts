import { textIn } from '../columns.ts';
import { isNoMember } from './extension-objects.ts';
import { relationCheck } from './relation-check.ts';

const candidates = `
  select quote_ident(e.evtname) as trigger_name, e.evtevent::text as event,
         count(*) over ()::float8 as total, null as unseen
    from pg_event_trigger e
   where e.evtenabled = 'D'
     and ${isNoMember('pg_event_trigger', 'e.oid')}
   order by trigger_name`;

/** Event triggers that were disabled and forgotten: what they log or refuse goes unseen. */
export const eventTriggerDisabled = relationCheck({
  id: 'PG_EVENT_TRIGGER_DISABLED',
  title: 'Disabled event trigger',
  category: 'schema',
  maxSeverity: 'warning',
  candidates: () => candidates,
  withoutTables: true,
  countMetric: 'disabled_event_triggers_count',
  fault: (row) => {
    const trigger = textIn(row, 'trigger_name');
    return {
      severity: 'warning',
      object: trigger,
      metricLine: `event trigger ${trigger} (${textIn(row, 'event')}) is disabled; enable it, or drop it if it is no longer needed.`,
      remediation: `ALTER EVENT TRIGGER ${trigger} ENABLE;`,
    };
  },
  passMessage: 'No event trigger is disabled.',
});

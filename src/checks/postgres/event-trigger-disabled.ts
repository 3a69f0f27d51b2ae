import { textIn, textOrNone } from '../columns.ts';
import { isNoMember } from './extension-objects.ts';
import { isOff } from './own-role-settings.ts';
import { relationCheck } from './relation-check.ts';

// From 17 on a setting turns all of them off: that is one fault, of the setting.
const candidates = `
  select *, count(*) over ()::float8 as total, null as unseen
    from (
      select quote_ident(e.evtname) as trigger_name, e.evtevent::text as event
        from pg_event_trigger e
       where e.evtenabled = 'D'
         and ${isNoMember('pg_event_trigger', 'e.oid')}
       union all
      select null, null
       where ${isOff('event_triggers')}
         and exists (select from pg_event_trigger where evtenabled <> 'D')
    ) disabled
   order by trigger_name nulls first`;

const SETTING =
  "SELECT setting, source, sourcefile FROM pg_settings WHERE name = 'event_triggers'; -- source says who set it: then run ALTER SYSTEM RESET event_triggers; and SELECT pg_reload_conf(); or ALTER DATABASE … RESET event_triggers; or ALTER ROLE … RESET event_triggers;";

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
    if (textOrNone(row, 'trigger_name') === undefined)
      return {
        severity: 'warning',
        object: 'event_triggers',
        metricLine:
          'event_triggers is off, so that no event trigger runs; turn it on again, as it is meant for repairs only.',
        remediation: SETTING,
      };
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

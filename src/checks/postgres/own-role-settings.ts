/**
 * Condition: a row of pg_settings has its value for other sessions too. One that was set for the monitor's own role says nothing of the
 * server.
 */
export const IS_OF_OTHERS = "source not in ('user', 'database user')";

/** Condition: a setting is off, and not only for the monitor's own role. False if the server does not know it. */
export function isOff(name: string): string {
  return `coalesce(current_setting('${name}', true) = 'off'
                   and exists (select from pg_show_all_settings() where name = '${name}' and ${IS_OF_OTHERS}), false)`;
}

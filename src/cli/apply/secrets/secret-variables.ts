import { SETTING_NAMES } from '../../../config/setting-names.ts';
import { UsageError } from '../../usage-error.ts';

const NAME_OR_PREFIX = /^[A-Za-z_][A-Za-z0-9_]*(?:_\*)?$/;

/**
 * Parses --secret-env: names of environment variables, or `PREFIX_*`, separated by commas; it may be repeated. These are the only
 * variables whose values a file can send to a database or a receiver.
 */
export function secretVariablesOf(text: string, before: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  for (const name of names) {
    if (!NAME_OR_PREFIX.test(name))
      throw new UsageError(
        '--secret-env must be names of environment variables, or the start of names as in SHOP_*, separated by commas.',
      );
    if (isOwnSetting(name))
      throw new UsageError(`--secret-env: ${name} is a setting of dbvitals, so a file must not send it.`);
  }
  return [...before, ...names];
}

/** Whether a file may use a variable, by the names and prefixes of --secret-env. */
export function maySend(name: string, allowed: readonly string[]): boolean {
  if (isOwnSetting(name)) return false;
  return allowed.some((one) => (one.endsWith('*') ? name.startsWith(one.slice(0, -1)) : name === one));
}

function isOwnSetting(name: string): boolean {
  return /^(?:DBVITALS_|OTEL_)/i.test(name) || SETTING_NAMES.some((setting) => setting === name);
}

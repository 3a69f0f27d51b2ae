import type { ServerFacts } from '../check.ts';
import { hostedSetting } from '../hosted/hosted-setting.ts';

/** Bytes of a page, the unit of shared_buffers: PostgreSQL's default, which no provider changes. */
export const PAGE = 8192;

/** A setting of a PostgreSQL server, and the value that it should have. */
interface Setting {
  name: string;
  /** As `pg_settings.setting` has it, in the setting's own unit. */
  value: string | number;
  /** As `ALTER SYSTEM` takes it, if that is easier to read: `'256MB'`. */
  literal?: string;
  /** Takes effect at a restart only. */
  restart?: true;
  /** The end of the note behind the statement; with `look`, when to run it. */
  note?: string;
  /** A statement to look with first, where the value may be wrong for the machine. */
  look?: string;
}

/** Sets a setting for the whole server: by a statement, or on a hosted server by steps in its provider's terms. */
export function alterSystem({ provider }: Pick<ServerFacts, 'provider'>, setting: Setting): string {
  const { name, value, literal = value, restart = false, note, look } = setting;
  if (provider) return hostedSetting(provider, { engine: 'postgres', name, value, restart });
  const set = `ALTER SYSTEM SET ${name} = ${literal};`;
  if (look !== undefined) return `${look} -- then, if ${note}: ${set} and restart the server`;
  if (!restart) return `${set} SELECT pg_reload_conf();${note === undefined ? '' : ` -- ${note}`}`;
  return `${set} -- takes effect at the next restart${note === undefined ? '' : `; ${note}`}`;
}

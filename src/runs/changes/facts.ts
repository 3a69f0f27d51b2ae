import type { ChangeKind } from './connection-change.ts';

/** What is read and compared together. Of a role's settings, those that went are known; of the server's, never. */
export const READING_KINDS = [
  'setting',
  'role_setting',
  'server',
  'extension',
  'standby',
  'schema',
  // Why the schema was not read; empty if it was.
  'schema_skipped',
] as const;

export type ReadingKind = (typeof READING_KINDS)[number];

/** One fact of a server, as a tuple, because a schema has many: kind, subject, value, and what only some facts have. */
export type Fact = readonly [kind: ChangeKind, subject: string, value: string, more?: FactDetails];

interface FactDetails {
  /** Where a setting is set. */
  source?: string;
  /** The database of a setting, if it applies to one only. */
  database?: string;
  /** The table of a column, index, constraint or trigger; the server that started. */
  of?: string;
}

/** The facts that a run read of one kind. What the login may not see has no reading, so it does not seem to be gone. */
export interface Reading {
  kind: ReadingKind;
  /** '' = the whole server. */
  database: string;
  facts: Fact[];
  /** What the login can see. Readings of different bases are not compared. */
  basis?: string;
}

/** A reading as the store keeps it: its sensitive values are hashed. */
export interface StoredFacts {
  basis: string;
  facts: Fact[];
}

/** A reading as a run reports it. */
export interface ReportedReading {
  kind: ReadingKind;
  database: string;
  /** SHA-256 of `stored`. */
  digest: string;
  /** Absent if it is the same as that of the previous run. */
  stored?: StoredFacts;
}

/** What the store has of the previous runs. */
export interface KnownReading {
  kind: ReadingKind;
  database: string;
  digest: string;
  /** Seconds since `read_at`. */
  age: number;
}

/** What a run needs to read facts. Plain data. */
export interface FactInstructions {
  /** The connection's key for hashing sensitive values, base64. */
  key: string;
  known: KnownReading[];
  /** When the server started, as the previous run read it (RFC 3339). */
  started: string | null;
}

/** Sends a statement. Null if the server refused it, so its facts are left out. */
export type Ask = (statement: string) => Promise<Readonly<Record<string, unknown>>[] | null>;

/** A column as text; '' for null and what is no text or number. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : '';
}

import type { TokenCommand } from '../../config/token-commands.ts';
import type { Target } from '../session/session.ts';

/** A connection of a collector's file. */
export interface CollectorTarget {
  target: Target;
  /** The command that prints the password; null = the target has it. */
  tokenCommand: TokenCommand | null;
  /** Whether texts of queries may leave the site, if the service asks for them too. */
  queryTexts: boolean;
  /** Whether the statements of own checks, which members of the service write, run here. */
  ownChecks: boolean;
}

/** The connections of a collector's file, by name. */
export type CollectorTargets = ReadonlyMap<string, CollectorTarget>;

import type { Engine } from '../../vocabulary/engines.ts';
import type { Finding } from '../check.ts';

// A standby refuses statements that change data or the schema, and on a replica that accepts writes they make it differ from its
// source. So each says where it belongs. Settings, sessions and replication are those of the server that was measured.

const OF_POSTGRES =
  'ALTER (?!SYSTEM)|ANALYZE|CLUSTER|COMMENT ON|COMMIT PREPARED|CREATE|DROP|GRANT|REFRESH|REINDEX|REVOKE|ROLLBACK PREPARED|UPDATE|VACUUM';
const OF_MYSQL =
  'ALTER (?!INSTANCE)|ANALYZE|CREATE|DROP|EXECUTE IMMEDIATE|GRANT|OPTIMIZE|RENAME|REVOKE|SET PASSWORD|SET STATEMENT|UPDATE (?!performance_schema)|XA ';

const WHERE = { postgres: 'on the primary', mysql: 'on the source if this is a replica' };

const QUOTED = /'(?:[^'\\]|''|\\.)*'|"(?:[^"]|"")*"|`(?:[^`]|``)*`/g;

/** Says in a remediation for a standby or replica that its statements belong to the server that this one copies. */
export function forPrimary(engine: Engine, remediation: string): string {
  const kind = engine === 'postgres' ? 'postgres' : 'mysql';
  const where = WHERE[kind];
  if (/\bon the (?:primary|source)\b/.test(remediation)) return remediation;
  // Of the same length, so that places stay.
  const bare = remediation.replace(QUOTED, (quoted) => `"${'x'.repeat(quoted.length - 2)}"`);
  const note = bare.indexOf('-- ');
  const statements = note < 0 ? bare : bare.slice(0, note);
  const writes = kind === 'postgres' ? OF_POSTGRES : OF_MYSQL;
  if (new RegExp(`(?:^|;\\s*)(?:${writes})`).test(statements)) {
    if (note < 0) return `${remediation} -- ${where}`;
    return `${remediation.slice(0, note)}-- ${where}; ${remediation.slice(note + 3)}`;
  }
  return new RegExp(`\\b(?:${writes})`).test(bare) ? `${remediation} (${where})` : remediation;
}

/** A finding about a standby or replica, with the place where its statements and its GRANT must be run. */
export function findingForPrimary(engine: Engine, finding: Finding): Finding {
  // What members wrote stays as it is.
  if (finding.category === 'own') return finding;
  const remediation = forPrimary(engine, finding.remediation);
  const { missing_grant: grant } = finding;
  if (grant === undefined) return { ...finding, remediation };
  const where = engine === 'postgres' ? 'On the primary' : 'On the source if this is a replica';
  const metric_line = finding.metric_line.replace(` Run ${grant}`, () => ` ${where}, run ${grant}`);
  return { ...finding, remediation, metric_line, missing_grant: forPrimary(engine, grant) };
}

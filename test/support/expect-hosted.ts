import { expect } from 'vitest';
import type { Check, Judgement } from '../../src/checks/check.ts';
import type { Engine } from '../../src/vocabulary/engines.ts';
import { PROVIDERS, type Provider } from '../../src/vocabulary/hosted/providers.ts';

/** What no login of a provider may do, and what only the machine has. */
const OUT_OF_REACH = [
  /\bALTER SYSTEM\b/,
  /\bSET (?:GLOBAL|PERSIST)\b/,
  /\bALTER INSTANCE\b/,
  /\bALTER ROLE ALL\b/,
  /option file/,
  /\w\.(?:conf|cnf)\b/,
  /pg_hba/,
  /archive_command/,
  /certificate and a key/,
  /systemctl/,
  /pg_ctl/,
  /pg_upgrade/,
  /[Ii]nstall the package/,
  /[Rr]estart (?:the server|PostgreSQL)(?! in a quiet period: az )/,
  /\bSUPER\b/,
  /superuser/i,
  /\b(?:START|STOP|RESET) (?:REPLICA|SLAVE|ALL SLAVES|GROUP_REPLICATION)\b/,
  /\bCHANGE (?:MASTER|REPL)/,
];

/** RDS and Aurora give no login the right to end sessions of others; they have procedures. */
const AMAZON = /'KILL |-- KILL /;

/**
 * Expects of a check's rows that no text of their judgement asks for what a hosted server refuses, on any provider.
 * `judge` judges them as those of a provider's server.
 */
export function expectHosted({ id }: Check, engine: Engine, judge: (provider: Provider) => Judgement): void {
  for (const provider of PROVIDERS) {
    const judgement = judge(provider);
    const texts =
      'skipped' in judgement
        ? [judgement.skipped, judgement.grant ?? '']
        : judgement.faults.flatMap(({ metricLine, remediation }) => [metricLine, remediation]);
    const refused = [...OUT_OF_REACH, ...(/rds|aurora/.test(provider) && engine === 'mysql' ? [AMAZON] : [])];
    for (const text of texts.map(whole))
      expect([id, provider, text, refused.filter((each) => each.test(text))]).toEqual([
        id,
        provider,
        text,
        [],
      ]);
  }
}

/** With the statements that are prepared from their bytes. */
function whole(text: string): string {
  return text.replace(/\b0x((?:[0-9a-f]{2})+)\b/g, (_, bytes) => Buffer.from(bytes, 'hex').toString());
}

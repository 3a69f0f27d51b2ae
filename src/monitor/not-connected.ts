import { type Catalogue, CONN_AUTH_FAILED, CONN_UNREACHABLE } from '../checks/catalogue.ts';
import type { Outcome } from '../checks/check.ts';
import { faultFinding, plainCheck, plainFinding } from './outcome.ts';
import type { ConnectFailure } from './session/connect-failure.ts';

/** What a run knows that connected: the two availability checks are listed, so that their tickets resolve. */
export function connectedOutcomes(): Outcome[] {
  return [
    reached(CONN_UNREACHABLE, 'The database answers.'),
    reached(CONN_AUTH_FAILED, 'The login is accepted.'),
  ];
}

/**
 * What a run knows that could not connect to `where` in so many `tries`: the one finding that says so. Only a server
 * that has no connection left is known to be there, so its run lists every check, all but saturation not measured.
 */
export function notConnectedOutcomes(
  { checks, privilegeMissing, saturation }: Catalogue,
  failure: ConnectFailure,
  where: string,
  tries: number,
): Outcome[] {
  const line = `No connection to ${where}${tries === 1 ? '' : ` in ${tries} tries`}: ${failure.reason}.`;
  switch (failure.kind) {
    case 'unauthorized':
      return [faulty(CONN_AUTH_FAILED, line, LOGIN)];
    case 'unreachable':
      return [faulty(CONN_UNREACHABLE, line, REACH)];
    case 'saturated':
      return [
        reached(CONN_UNREACHABLE, 'The database answers.'),
        ...[CONN_AUTH_FAILED, privilegeMissing, ...checks].map((check) =>
          check.id === saturation
            ? faulty(check, line, SATURATED)
            : unmeasured(check, 'the server has no connection left'),
        ),
      ];
  }
}

/**
 * What a run knows that was ended from outside before it could tell: nothing, so every ticket stands, and the database
 * is as good as unreachable, for a score without that would call it well.
 */
export function endedOutcomes({ checks, privilegeMissing }: Catalogue, reason: string): Outcome[] {
  return [
    faulty(CONN_UNREACHABLE, `The database could not be measured: ${reason}.`, AGAIN),
    ...[CONN_AUTH_FAILED, privilegeMissing, ...checks].map((check) => unmeasured(check, reason)),
  ];
}

/** What a run knows of a connection whose settings are not those that its password was stored for. */
export function tamperedOutcome(reason: string): Outcome {
  return faulty(CONN_AUTH_FAILED, `No login was tried: ${reason}.`, TAMPERED);
}

const TAMPERED =
  'Find out who changed the store, then enter address and password again ("connection change --url … --password-stdin").';
const LOGIN =
  'Set the password again ("connection change --password-stdin"); on PostgreSQL store it as SCRAM and let the login in by pg_hba.conf, on MySQL let it in from this host.';
const REACH =
  'Start the server, or correct host, port, database or TLS of the connection ("connection change").';
const AGAIN =
  'Run the check again; where it ends so again, see how slowly the server answers, and what it sends.';
const SATURATED = 'Put a pooler in front of the server, or raise max_connections.';

function reached(check: Outcome['check'], line: string): Outcome {
  return { check, findings: [plainFinding(check, 'ok', line)], measured: true, unmeasured: [], near: [] };
}

function faulty(check: Outcome['check'], metricLine: string, remediation: string): Outcome {
  const fault = { severity: 'critical', object: null, metricLine, remediation } as const;
  return {
    check: plainCheck(check),
    findings: [faultFinding(check, '', fault)],
    measured: true,
    unmeasured: [],
    near: [],
  };
}

function unmeasured(check: Outcome['check'], reason: string): Outcome {
  const finding = plainFinding(check, 'error', `Not measured: ${reason}.`);
  return { check: plainCheck(check), findings: [finding], measured: false, unmeasured: [], near: [] };
}

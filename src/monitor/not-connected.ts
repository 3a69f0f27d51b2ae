import { type Catalogue, CONN_AUTH_FAILED, CONN_UNREACHABLE } from '../checks/catalogue.ts';
import type { Outcome } from '../checks/check.ts';
import { faultFinding, plainCheck, plainFinding } from './outcome.ts';
import type { ConnectFailure } from './session/connect-failure.ts';

/** The outcomes of the two availability checks after a connection. They are listed so that their tickets resolve. */
export function connectedOutcomes(): Outcome[] {
  return [
    okOutcome(CONN_UNREACHABLE, 'The database answers.'),
    okOutcome(CONN_AUTH_FAILED, 'The login is accepted.'),
  ];
}

/**
 * The outcomes of a run that could not connect to `where` after so many `tries`: one finding. If all connections of
 * the server are in use, the server is known to run, so every check is listed, and all except saturation are not
 * measured.
 */
export function notConnectedOutcomes(
  { checks, privilegeMissing, saturation }: Catalogue,
  failure: ConnectFailure,
  where: string,
  tries: number,
): Outcome[] {
  const line = `Could not connect to ${where}${tries === 1 ? '' : ` in ${tries} tries`}: ${failure.reason}.`;
  switch (failure.kind) {
    case 'unauthorized':
      return [faultOutcome(CONN_AUTH_FAILED, line, LOGIN)];
    case 'unreachable':
      return [faultOutcome(CONN_UNREACHABLE, line, REACH)];
    case 'saturated':
      return [
        okOutcome(CONN_UNREACHABLE, 'The database answers.'),
        ...[CONN_AUTH_FAILED, privilegeMissing, ...checks].map((check) =>
          check.id === saturation
            ? faultOutcome(check, line, SATURATED)
            : unmeasuredOutcome(check, 'all connections of the server are in use'),
        ),
      ];
  }
}

/**
 * The outcomes of a run that was stopped from outside. Nothing was measured, so every ticket stays as it is. The
 * database counts as unreachable, because otherwise the score would look healthy.
 */
export function endedOutcomes({ checks, privilegeMissing }: Catalogue, reason: string): Outcome[] {
  return [
    faultOutcome(CONN_UNREACHABLE, `The database could not be measured: ${reason}.`, AGAIN),
    ...[CONN_AUTH_FAILED, privilegeMissing, ...checks].map((check) => unmeasuredOutcome(check, reason)),
  ];
}

/** The outcome for a connection whose settings differ from those that its password was stored for. */
export function tamperedOutcome(reason: string): Outcome {
  return faultOutcome(CONN_AUTH_FAILED, `No login was tried: ${reason}.`, TAMPERED);
}

const TAMPERED =
  'Find out who changed the store. Then enter the address and the password again ("connection change --url … --password-stdin").';
const LOGIN =
  'Set the password again ("connection change --password-stdin"). PostgreSQL must store it as SCRAM and allow the login in pg_hba.conf. MySQL must allow the login from this host.';
const REACH =
  'Start the server, or correct the host, port, database or TLS mode of the connection ("connection change").';
const AGAIN =
  'Run the check again. If it fails again, find out how slowly the server answers and what it sends.';
const SATURATED = 'Use a connection pooler, or raise max_connections.';

function okOutcome(check: Outcome['check'], line: string): Outcome {
  return { check, findings: [plainFinding(check, 'ok', line)], measured: true, unmeasured: [], near: [] };
}

function faultOutcome(check: Outcome['check'], metricLine: string, remediation: string): Outcome {
  const fault = { severity: 'critical', object: null, metricLine, remediation } as const;
  return {
    check: plainCheck(check),
    findings: [faultFinding(check, '', fault)],
    measured: true,
    unmeasured: [],
    near: [],
  };
}

function unmeasuredOutcome(check: Outcome['check'], reason: string): Outcome {
  const finding = plainFinding(check, 'error', `Not measured: ${reason}.`);
  return { check: plainCheck(check), findings: [finding], measured: false, unmeasured: [], near: [] };
}

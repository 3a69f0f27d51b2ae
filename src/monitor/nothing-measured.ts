import type { Outcome } from '../checks/check.ts';
import { CONN_AUTH_FAILED, CONN_CHECKS_INCOMPLETE, CONN_UNREACHABLE } from '../checks/connection-findings.ts';
import { type Catalogue, checksOf } from '../checks/engine-catalogue.ts';
import type { SeriesValue } from '../checks/measure.ts';
import { cleanText } from '../platform/text/clean-text.ts';
import type { ReportedReading } from '../runs/changes/facts.ts';
import type { QueryReport } from '../runs/queries/query-run.ts';
import type { CounterSample } from './counters.ts';
import type { ReachedServer } from './measures/measure-checks.ts';
import { faultFinding, plainCheck, plainFinding } from './outcome.ts';
import type { ConnectFailure } from './session/failures/connect-failure.ts';
import type { Meter } from './session/session.ts';

/** The result of a run. Plain data, because a pipe sends it from a child process. */
export interface Measured {
  outcomes: Outcome[];
  /** Databases that exist, but that no check looked into. */
  leftOut: string[];
  /** The samples of this run, for checks that compare runs. */
  samples: CounterSample[];
  /** The numbers of this run, of checks and vitals; and what may have changed of the server. */
  measures: SeriesValue[];
  readings: ReportedReading[];
  /** What queries did. Null if that was not read. */
  queries: QueryReport | null;
  cost: Cost;
  /** SHA-256 of the SSH server's key, base64. Null without a tunnel. */
  hostKey: string | null;
  /** Null if the server was not reached. */
  server: ReachedServer | null;
  /** Why the server could not be connected to. Null if it could. */
  failure: ConnectFailure | null;
}

/** What the checks of a run cost the monitored server, as seen by the monitor. */
export type Cost = Meter;

/** The result of a run that ended before it measured anything. */
export function nothingMeasured(outcomes: Outcome[]): Measured {
  return {
    outcomes,
    leftOut: [],
    samples: [],
    measures: [],
    readings: [],
    queries: null,
    cost: { milliseconds: 0, statements: 0, bytes: 0 },
    hostKey: null,
    server: null,
    failure: null,
  };
}

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
  catalogue: Catalogue,
  failure: ConnectFailure,
  where: string,
  tries: number,
): Outcome[] {
  const line = `Could not connect to ${where}${tries === 1 ? '' : ` in ${tries} tries`}: ${failure.reason}.`;
  const remediation = failure.paste === null ? failure.advice : `${failure.advice} ${failure.paste}`;
  const left = failure.isOwnLimit
    ? 'the login has no connection left'
    : 'all connections of the server are in use';
  switch (failure.kind) {
    case 'unauthorized':
      return [faultOutcome(CONN_AUTH_FAILED, line, remediation)];
    case 'unreachable':
      return [faultOutcome(CONN_UNREACHABLE, line, remediation)];
    case 'saturated':
      return [
        okOutcome(CONN_UNREACHABLE, 'The database answers.'),
        ...[CONN_AUTH_FAILED, CONN_CHECKS_INCOMPLETE, ...checksOf(catalogue)].map((check) =>
          check.id === catalogue.saturation
            ? faultOutcome(check, line, remediation)
            : unmeasuredOutcome(check, left),
        ),
      ];
  }
}

/**
 * The outcomes of a run that was stopped from outside. Nothing was measured, so every ticket stays as it is. The
 * database counts as unreachable, because otherwise the score would look healthy.
 */
export function endedOutcomes(catalogue: Catalogue, reason: string): Outcome[] {
  return [
    faultOutcome(CONN_UNREACHABLE, `The database could not be measured: ${reason}.`, AGAIN),
    ...[CONN_AUTH_FAILED, CONN_CHECKS_INCOMPLETE, ...checksOf(catalogue)].map((check) =>
      unmeasuredOutcome(check, reason),
    ),
  ];
}

/** The outcome for a connection whose settings differ from those that its password was stored for. */
export function tamperedOutcome(reason: string): Outcome {
  return faultOutcome(CONN_AUTH_FAILED, `No login was tried: ${reason}.`, TAMPERED);
}

/** The outcome for a connection whose token could not be had from its source. */
export function noTokenOutcome(source: string, reason: string): Outcome {
  return faultOutcome(
    CONN_AUTH_FAILED,
    `No login was tried: the token source ${source} gave no token: ${reason}.`,
    'Run the command of the token source as the user of the service, and correct it in DBVITALS_TOKEN_COMMANDS_FILE.',
  );
}

/** The outcome of a run whose connection is not in the collector's file, or is there for another engine. */
export function unknownConnectionOutcome(connection: string, engine: string | null): Outcome {
  const name = cleanText(connection, 200);
  return engine === null
    ? faultOutcome(
        CONN_UNREACHABLE,
        `The collector has no connection "${name}" in its file.`,
        'Add it to the file of the collector. The next health check reads the file again.',
      )
    : faultOutcome(
        CONN_UNREACHABLE,
        `Connection "${name}" in the file of the collector is for ${engine}, which is not its engine here.`,
        'Correct the URL in the file of the collector, or add the connection with the other engine.',
      );
}

const TAMPERED =
  'Find out who changed the store. Then enter the address and the password again ("connection change --url … --password-stdin").';
const AGAIN =
  'Run the check again. If it fails again, find out how slowly the server answers and what it sends.';

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

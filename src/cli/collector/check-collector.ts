import { buildVersion } from '../../config/build-version.ts';
import { callService, ServiceRefused } from '../../monitor/collector/call-service.ts';
import { type CollectorIdentity, readIdentity } from '../../monitor/collector/collector-key.ts';
import type { CollectorTarget } from '../../monitor/collector/collector-target.ts';
import { measureLoaded } from '../../monitor/tokens/measure-loaded.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import type { OwnPlaces } from '../guarded-file.ts';
import { readCollectorFile } from './collector-file.ts';

/** Where a collector keeps what it needs. */
interface CollectorPlaces {
  folder: string;
  file: string;
}

const ABOUT = 'collector';
const ok = (message: string): Diagnosis => ({ about: ABOUT, status: 'ok', message, remedy: null });
const wrong = (message: string, remedy: string | null): Diagnosis => ({
  about: ABOUT,
  status: 'error',
  message,
  remedy,
});

/** Checks a collector on its own side: its key, its file, the way to its service, and the login of each connection. Never throws. */
export async function checkCollector(
  { folder, file }: CollectorPlaces,
  own: OwnPlaces,
): Promise<Diagnosis[]> {
  const identity = attempt(() => readIdentity(folder));
  const targets = attempt(() => readCollectorFile(file, own));
  const diagnoses = [ok(`Version ${buildVersion()}.`)];
  if ('problem' in identity) diagnoses.push(wrong(identity.problem, null));
  else if (identity.value === null)
    diagnoses.push(
      wrong(
        `The folder ${folder} has no key.`,
        'Make a token with "collector enrol", and start the collector with it.',
      ),
    );
  else diagnoses.push(await checkService(identity.value));
  if ('problem' in targets) return [...diagnoses, wrong(targets.problem, null)];
  for (const [name, target] of targets.value) diagnoses.push(await checkConnection(name, target));
  if (targets.value.size === 0) diagnoses.push(wrong(`The file ${file} has no connection.`, 'Add one.'));
  return diagnoses;
}

function attempt<T>(read: () => T): { value: T } | { problem: string } {
  try {
    return { value: read() };
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

/** Sends a signed request that changes nothing, beside those of the collector that runs. */
async function checkService(identity: CollectorIdentity): Promise<Diagnosis> {
  const { name, url } = identity;
  try {
    await callService(identity, 'pulse', { events: [] }, AbortSignal.timeout(20_000));
    return ok(`The service at ${url} accepts the key of collector ${name}.`);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return error instanceof ServiceRefused
      ? wrong(
          `The service at ${url} refuses collector ${name}: ${reason}`,
          'Enrol it again, or set its clock.',
        )
      : wrong(
          `The service at ${url} is not reached: ${reason}.`,
          'Allow outgoing HTTPS to it, and see whether it runs.',
        );
  }
}

/** Connects as a health check does, and measures nothing. */
async function checkConnection(name: string, { target, tokenCommand }: CollectorTarget): Promise<Diagnosis> {
  const instructions = { allowPrivateTargets: true, thresholds: {}, own: [], onlyOwn: true, tries: 1 };
  const loaded = { job: { target, instructions }, tokenSource: tokenCommand && name };
  const { outcomes } = await measureLoaded(
    loaded,
    tokenCommand ? { [name]: tokenCommand } : {},
    AbortSignal.timeout(60_000),
  );
  const [fault] = outcomes.flatMap(({ findings }) => findings.filter(({ status }) => status === 'critical'));
  return fault
    ? wrong(`Connection ${name}: ${fault.metric_line}`, fault.remediation)
    : ok(`Connection ${name}: the login is accepted.`);
}

import type pg from 'pg';
import type { OwnCheck } from '../../checks/own/own-check.ts';
import { listOwnChecks } from '../../connections/own-checks/list-own-checks.ts';
import { removeOwnCheck } from '../../connections/own-checks/remove-own-check.ts';
import { ownCheckFields, setOwnCheck } from '../../connections/own-checks/set-own-check.ts';
import { within } from '../../store/read.ts';
import { COMMAND_LINE } from '../commands/silence-command.ts';
import type { Steps } from './apply-step.ts';
import { type Kind, reconcile } from './reconcile.ts';

/** The steps that bring an account's own checks to the desired state. */
export async function planOwnChecks(
  client: pg.ClientBase,
  account: { id: number | null; name: string },
  wanted: readonly OwnCheck[],
): Promise<Steps> {
  const stored = account.id === null ? [] : await listOwnChecks(within(client), account.id);
  return reconcile(KIND, account.name, wanted, stored);
}

const KIND: Kind<OwnCheck, OwnCheck> = {
  what: 'own check',
  key: ({ id }) => id,
  name: ({ id }) => id,
  describe: shown,
  describeStored: shown,
  add: (change, wanted) => setOwnCheck(change, wanted, COMMAND_LINE),
  change: (change, _, wanted) => setOwnCheck(change, wanted, COMMAND_LINE),
  remove: (change, { id }) => removeOwnCheck(change, id, COMMAND_LINE),
};

function shown(own: OwnCheck) {
  const { every: every_seconds, timeout: timeout_seconds, ...fields } = ownCheckFields(own);
  return { ...fields, every_seconds, timeout_seconds };
}

import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { IssuedKey, NewKey } from '../../../../src/console-api/keys/change-keys.ts';
import { send } from '../../api.ts';
import { serviceUrl } from '../../base-path.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog, FormDialog } from '../../parts/dialog.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { limitText, PlanAccess, planName } from '../../parts/plan-access.tsx';
import { Loaded, NoPermission, SkeletonRows } from '../../parts/states.tsx';
import { inBothZones } from '../../parts/time.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { accountQuery } from '../../shell/account-query.ts';
import { zoneWords } from '../../time-zone.ts';
import { AccessFields } from './access-fields.tsx';
import { secondsToEndOf } from './api-key-lifetime.ts';
import { ANY_ACCESS, accessIn } from './key-access.ts';
import type { NewSecret } from './secret-dialog.tsx';

const DAYS = ['7', '30', '90', '180', '365'];
const LIVES = [
  ...DAYS.map((days) => ({ id: days, label: days === '365' ? '1 year' : `${days} days` })),
  { id: 'day', label: 'Custom date' },
  { id: 'never', label: 'Never' },
];

/** The key's lifetime in seconds; null = no expiry, undefined = no valid day entered yet. */
function lifeOf(choice: string, day: string): number | null | undefined {
  if (choice === 'never') return null;
  return choice === 'day' ? (secondsToEndOf(day, Date.now()) ?? undefined) : Number(choice) * 86_400;
}

function endInWords(life: number | null | undefined): string | undefined {
  if (life === undefined) return undefined;
  if (life === null) return 'The key works until someone revokes it. You get no expiry warning.';
  return inBothZones(new Date(Date.now() + life * 1000));
}

interface CreateKeyProps {
  /** From the URL, which is untrusted. */
  given: { name?: string | undefined; note?: string | undefined };
  onClose: () => void;
  onMade: (secret: NewSecret) => void;
}

/** The form for a new key. Anyone can open its URL, so it may show a missing permission instead. */
export function CreateApiKey({ mayWrite, ...props }: CreateKeyProps & { mayWrite: boolean }) {
  if (mayWrite) return <CreateKeyForm {...props} />;
  return (
    <Dialog onClose={props.onClose} title="Create an API key">
      <NoPermission permission="keys:write" />
    </Dialog>
  );
}

/** The form, with the access that the key will have. */
function CreateKeyForm({ given, onClose, onMade }: CreateKeyProps) {
  const { draft, bind } = useDraft({
    name: given.name ?? '',
    note: given.note ?? '',
    choice: '90',
    day: '',
  });
  const { name, note, choice, day } = draft;
  const [access, setAccess] = useState(ANY_ACCESS);
  const life = lifeOf(choice, day);
  const create = useAction({
    request: (): Promise<IssuedKey> =>
      send('POST', '/keys', {
        name: name.trim(),
        note: note.trim(),
        expires_in: life ?? null,
        ...accessIn(access),
      } satisfies NewKey),
    onDone: ({ id, key, expires_at }) =>
      onMade({ id, key, expires_at, name: name.trim(), old_revoked_at: null }),
  });
  return (
    <FormDialog
      action="Create key"
      onClose={onClose}
      onSubmit={() => life !== undefined && create.mutate()}
      title="Create an API key"
      wide
      work={create}
    >
      <TextField
        {...bind('name')}
        autoFocus
        description="What the key is for, such as “Grafana, production”. The activity log shows it with each request."
        isRequired
        label="Name"
        maxLength={200}
      />
      <TextField
        {...bind('note')}
        description="Optional: where the key is stored, whom to contact."
        label="Note"
        maxLength={1_000}
      />
      <Select
        {...bind('choice', 'expires_in')}
        choices={LIVES}
        description={endInWords(life)}
        label="Expires"
      />
      {choice === 'day' && (
        <TextField
          {...bind('day')}
          description={`The key works until the end of that day in ${zoneWords()}.`}
          error={day && life === undefined ? 'Choose a day that is not over yet.' : null}
          isRequired
          label="Last day"
          type="date"
        />
      )}
      <AccessFields draft={access} onChange={setAccess} />
      <Reach />
      <p className="quiet small keys-hand-over">
        To have someone else create the key, send them a link to this form:
        <CopyButton text={addressOf(name, note)} what="link to this form" />
      </p>
    </FormDialog>
  );
}

/** The plan, the endpoints and the limit of every key of the account. */
function Reach() {
  const account = useQuery(accountQuery);
  return (
    <section aria-label="Your plan" className="keys-reach">
      <h3>Your plan</h3>
      <Loaded query={account} skeleton={<SkeletonRows rows={2} />}>
        {({ plan, includes, requests_per_minute }) => (
          <>
            <p>
              {planName(plan)} plan, read-only. {limitText(requests_per_minute)}
            </p>
            <PlanAccess includes={includes} />
          </>
        )}
      </Loaded>
    </section>
  );
}

function addressOf(name: string, note: string): string {
  const filled = Object.entries({ name: name.trim(), note: note.trim() }).filter(([, text]) => text);
  return `${serviceUrl()}/keys?${new URLSearchParams([['create', '1'], ...filled])}`;
}

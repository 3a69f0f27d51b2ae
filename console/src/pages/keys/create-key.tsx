import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { IssuedKey, NewKey } from '../../../../src/console-api/keys/change-keys.ts';
import { fieldError, send } from '../../api.ts';
import { serviceUrl } from '../../base-path.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Dialog, FormDialog } from '../../parts/dialog.tsx';
import { Select, TextField } from '../../parts/field.tsx';
import { limitText, PlanAccess, planName } from '../../parts/plan-access.tsx';
import { InlineError, Loaded, NoPermission, SkeletonRows } from '../../parts/states.tsx';
import { inBothZones } from '../../parts/time.tsx';
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
  if (mayWrite) return <Form {...props} />;
  return (
    <Dialog isOpen onClose={props.onClose} title="Create an API key">
      <NoPermission permission="keys:write" />
    </Dialog>
  );
}

/** The form, with the access that the key will have. */
function Form({ given, onClose, onMade }: CreateKeyProps) {
  const [name, setName] = useState(given.name ?? '');
  const [note, setNote] = useState(given.note ?? '');
  const [choice, setChoice] = useState('90');
  const [day, setDay] = useState('');
  const [access, setAccess] = useState(ANY_ACCESS);
  const life = lifeOf(choice, day);
  const create = useMutation({
    mutationFn: (body: NewKey) => send<IssuedKey>('POST', '/keys', body),
    gcTime: 0, // the answer holds the key
    onSuccess: ({ id, key, expires_at }) =>
      onMade({ id, key, expires_at, name: name.trim(), old_revoked_at: null }),
  });
  const submit = () => {
    if (life === undefined) return;
    create.mutate({ name: name.trim(), note: note.trim(), expires_in: life, ...accessIn(access) });
  };
  const { error } = create;
  return (
    <FormDialog
      action="Create key"
      isPending={create.isPending}
      onClose={onClose}
      onSubmit={submit}
      title="Create an API key"
      wide
    >
      <InlineError error={error} fields={['name', 'note', 'expires_in', 'scopes', 'allowed_addresses']} />
      <TextField
        autoFocus
        description="What the key is for, such as “Grafana, production”. The activity log shows it with each request."
        error={fieldError(error, 'name')}
        isRequired
        label="Name"
        maxLength={200}
        onChange={setName}
        value={name}
      />
      <TextField
        description="Optional: where the key is stored, whom to contact."
        error={fieldError(error, 'note')}
        label="Note"
        maxLength={1_000}
        onChange={setNote}
        value={note}
      />
      <Select
        choices={LIVES}
        description={endInWords(life)}
        error={fieldError(error, 'expires_in')}
        label="Expires"
        onChange={setChoice}
        value={choice}
      />
      {choice === 'day' && (
        <TextField
          description={`The key works until the end of that day in ${zoneWords()}.`}
          error={day && life === undefined ? 'Choose a day that is not over yet.' : null}
          isRequired
          label="Last day"
          onChange={setDay}
          type="date"
          value={day}
        />
      )}
      <AccessFields draft={access} error={error} onChange={setAccess} />
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

import { useState } from 'react';
import { send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ConfirmRequest } from '../../parts/confirm-request.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { Section } from '../../parts/page.tsx';
import { hasPasskeys, makePasskey, passkeyError } from '../../parts/passkey.ts';
import { type Column, Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { useAction } from '../../parts/use-action.ts';
import { type Profile, useProfile } from '../../shell/profile.ts';
import { deviceName } from './device.ts';

type Passkey = Profile['login']['passkeys'][number];

function columns(onRemove: (passkey: Passkey) => void): Column<Passkey>[] {
  return [
    {
      header: 'Name',
      width: 'minmax(0, 2fr)',
      narrow: 'lead',
      cell: ({ name }) => <strong>{name}</strong>,
    },
    { header: 'Added', cell: ({ created_at }) => <Time at={created_at} /> },
    {
      header: 'Last used',
      cell: ({ last_used_at }) =>
        last_used_at ? <Time at={last_used_at} /> : <span className="quiet">never</span>,
    },
    {
      header: 'Remove',
      hideHeader: true,
      width: 'auto',
      align: 'end',
      narrow: 'corner',
      cell: (passkey) => (
        <Button aria-label={`Remove ${passkey.name}`} onPress={() => onRemove(passkey)} small>
          Remove
        </Button>
      ),
    },
  ];
}

async function addPasskey(name: string): Promise<void> {
  const options = await send<PublicKeyCredentialCreationOptionsJSON>('POST', '/me/passkeys/options');
  const response = await makePasskey(options).catch((error: Error) => {
    throw new Error(passkeyError(error));
  });
  await send('POST', '/me/passkeys', { name, response });
}

/** The person's passkeys: add one on this device, or remove one. */
export function Passkeys() {
  const { passkeys } = useProfile().login;
  const [name, setName] = useState(() => deviceName(navigator.userAgent));
  const [removing, setRemoving] = useState<Passkey | null>(null);
  const add = useAction({
    request: () => addPasskey(name.trim()),
    renews: ['me'],
    done: 'Passkey added',
  });
  return (
    <Section
      description="A passkey signs you in with your device’s fingerprint, face or PIN. It can’t be phished or guessed."
      title="Passkeys"
    >
      <Table
        empty={<p>No passkeys yet.</p>}
        columns={columns(setRemoving)}
        label="Passkeys"
        rowKey={({ id }) => id}
        rows={passkeys}
      />
      {hasPasskeys ? (
        <Form className="own-form" error={add.error} onSubmit={() => add.mutate()}>
          <TextField isRequired label="Passkey name" maxLength={100} onChange={setName} value={name} />
          <Button icon="plus" isPending={add.isPending} type="submit">
            Add passkey
          </Button>
        </Form>
      ) : (
        <p className="quiet">Passkeys need a recent browser and an https address.</p>
      )}
      {removing && (
        <ConfirmRequest
          action="Remove passkey"
          done="Passkey removed"
          onClose={() => setRemoving(null)}
          renews={['me']}
          request={() => send('DELETE', `/me/passkeys/${encodeURIComponent(removing.id)}`)}
          title="Remove this passkey?"
        >
          <p>{removing.name} no longer signs you in. Delete it on the device too.</p>
        </ConfirmRequest>
      )}
    </Section>
  );
}

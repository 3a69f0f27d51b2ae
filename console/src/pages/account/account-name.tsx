import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Account, AccountChange } from '../../../../src/console-api/account/account-routes.ts';
import { ApiError, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { accountQuery } from '../../shell/account-query.ts';

/**
 * Renames the account. If someone else changed the account since the form was opened, the form says so and overwrites
 * nothing.
 */
export function AccountName({ account }: { account: Account }) {
  const [base, setBase] = useState(account);
  const [name, setName] = useState(account.name);
  const queries = useQueryClient();
  const keep = (now: Account) => {
    queries.setQueryData(accountQuery.queryKey, now);
    setBase(now);
  };
  const save = useMutation({
    mutationFn: (body: AccountChange) => send<Account>('PATCH', '/account', body),
    onSuccess: async (now) => {
      keep(now);
      setName(now.name);
      notify('Account renamed');
      await queries.invalidateQueries({ queryKey: ['me'] });
    },
    onError: async (error) => {
      if (!(error instanceof ApiError && error.status === 409)) return;
      keep(await queries.fetchQuery({ ...accountQuery, staleTime: 0 }));
    },
  });
  const { error } = save;
  const isConflict = error instanceof ApiError && error.status === 409;
  return (
    <Form
      className="account-name"
      error={error}
      onSubmit={() => save.mutate({ version: base.version, name: name.trim() })}
      remedy={
        isConflict && (
          <p>
            The account is now called <bdi className="account-now">{base.name}</bdi>. Save again to rename it
            anyway.
          </p>
        )
      }
    >
      <TextField
        description="Shown in every member’s menu and on invitations."
        parameter="name"
        isRequired
        label="Account name"
        maxLength={200}
        onChange={setName}
        value={name}
      />
      <Button isDisabled={name.trim() === base.name && !isConflict} isPending={save.isPending} type="submit">
        Rename
      </Button>
    </Form>
  );
}

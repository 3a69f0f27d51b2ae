import { useMutation, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { fieldError, send } from '../../api.ts';
import { notify } from '../../parts/announcer.tsx';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Section } from '../../parts/page.tsx';
import { FormError } from '../../parts/states.tsx';
import { type Profile, useProfile } from '../../shell/profile.ts';

/** Changes the password. With single sign-on, the identity provider manages it. */
export function Password() {
  const { login } = useProfile();
  if (!login.single_sign_on) return <PasswordForm login={login} />;
  return (
    <Section title="Password">
      <p>You sign in with single sign-on. Change your password at your identity provider.</p>
    </Section>
  );
}

function PasswordForm({ login }: { login: Profile['login'] }) {
  const [current, setCurrent] = useState('');
  const [next, setNext] = useState('');
  const queries = useQueryClient();
  const change = useMutation({
    mutationFn: () => send('POST', '/me/password', { ...(login.has_password && { current }), next }),
    onSuccess: async () => {
      setCurrent('');
      setNext('');
      notify('Password changed. Your other sessions are signed out.');
      await queries.invalidateQueries();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    change.mutate();
  };
  const { error } = change;
  return (
    <Section description="Changing your password signs out all your other sessions." title="Password">
      <form className="own-form" onSubmit={submit}>
        {/* Password managers look for the user name. */}
        <input autoComplete="username" hidden readOnly type="email" value={login.email} />
        {login.has_password && (
          <TextField
            autoComplete="current-password"
            error={fieldError(error, 'current')}
            isRequired
            label="Current password"
            onChange={setCurrent}
            type="password"
            value={current}
          />
        )}
        <TextField
          autoComplete="new-password"
          description="12 characters or more. A long passphrase is easier to remember than a complex password."
          error={fieldError(error, 'next')}
          isRequired
          label="New password"
          minLength={12}
          onChange={setNext}
          type="password"
          value={next}
        />
        <Button isPending={change.isPending} type="submit">
          {login.has_password ? 'Change password' : 'Set password'}
        </Button>
        <FormError error={error} fields={[...(login.has_password ? ['current'] : []), 'next']} />
      </form>
    </Section>
  );
}

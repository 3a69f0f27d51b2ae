import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { SignInWays } from '../../../../src/console-api/sign-in/single-sign-on.ts';
import { ApiError, apiUrl, get, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { askPasskey, hasPasskeys, passkeyError } from '../../parts/passkey.ts';
import { FormError } from '../../parts/states.tsx';
import { SignedOutLayout } from '../../shell/signed-out-layout.tsx';
import { SIGN_ON_ERRORS } from './sign-on-errors.ts';

/** Continues to the requested page after clearing all data of the previous session. */
function useEnter(): () => Promise<void> {
  const queries = useQueryClient();
  const router = useRouter();
  const { next } = useSearch({ from: '/sign-in' });
  return async () => {
    queries.clear();
    await router.navigate({ href: next ?? '/', replace: true });
  };
}

async function signInByPasskey(): Promise<void> {
  const options = await send<PublicKeyCredentialRequestOptionsJSON>('POST', '/sign-in/passkey/options');
  const response = await askPasskey(options).catch((error: Error) => {
    throw new Error(passkeyError(error));
  });
  await send('POST', '/sign-in/passkey', { response });
}

/** Whether the password fits several accounts, so that the person must choose one. */
function isChoice(error: Error | null): error is ApiError {
  return error instanceof ApiError && error.code === 'choose_account';
}

/** Sign-in with e-mail address and password, with a passkey, or with the company's single sign-on. */
export function SignInPage() {
  const { error: refused, next } = useSearch({ from: '/sign-in' });
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const enter = useEnter();
  const ways = useQuery({
    queryKey: ['sign-in'],
    queryFn: ({ signal }) => get<SignInWays>('/sign-in', {}, signal),
  });
  const byPassword = useMutation({
    mutationFn: (account_id?: number) =>
      send('POST', '/sign-in', { email: email.trim(), password, ...(account_id && { account_id }) }),
    onSuccess: enter,
    onError: (error) => !isChoice(error) && setPassword(''),
  });
  const byPasskey = useMutation({ mutationFn: signInByPasskey, onSuccess: enter });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    byPasskey.reset();
    byPassword.mutate(undefined);
  };
  return (
    <SignedOutLayout title="Sign in">
      <form onSubmit={submit}>
        <TextField
          autoComplete="username"
          autoFocus
          isRequired
          label="E-mail address"
          onChange={setEmail}
          type="email"
          value={email}
        />
        <TextField
          autoComplete="current-password"
          isRequired
          label="Password"
          onChange={setPassword}
          type="password"
          value={password}
        />
        <Button isPending={byPassword.isPending} kind="primary" type="submit">
          Sign in
        </Button>
      </form>
      <FormError error={byPassword.error ?? byPasskey.error ?? (refused && SIGN_ON_ERRORS[refused])}>
        {isChoice(byPassword.error) &&
          byPassword.error.accounts.map(({ id, name }) => (
            <Button key={id} onPress={() => byPassword.mutate(id)}>
              {name}
            </Button>
          ))}
      </FormError>
      {(hasPasskeys || ways.data?.oidc) && <p className="entrance-or">or</p>}
      {hasPasskeys && (
        <Button
          icon="key"
          isPending={byPasskey.isPending}
          onPress={() => {
            byPassword.reset();
            byPasskey.mutate();
          }}
        >
          Sign in with a passkey
        </Button>
      )}
      {ways.data?.oidc && (
        <a className="button plain" href={apiUrl('/sign-in/oidc', { next })}>
          Sign in with single sign-on
        </a>
      )}
      <p className="entrance-note">
        No password yet? The service prints a one-time link at its first start. After that, an administrator
        can create a link for you on the team page.
      </p>
    </SignedOutLayout>
  );
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import type { SignInWays } from '../../../../src/console-api/sign-in/single-sign-on.ts';
import { ApiError, apiUrl, read, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { hasPasskeys, proveByPasskey } from '../../parts/passkey.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { SignedOutLayout } from '../../shell/signed-out-layout.tsx';
import type { SignInSearch } from './sign-in-search.ts';
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

/** Whether the password fits several accounts, so that the person must choose one. */
function isChoice(error: Error | null): error is ApiError {
  return error instanceof ApiError && error.code === 'choose_account';
}

/** Sign-in with e-mail address and password, with a passkey, or with the company's single sign-on. */
export function SignInPage() {
  const { error: refused, next }: SignInSearch = useSearch({ from: '/sign-in' });
  const { draft, change, bind } = useDraft({ email: '', password: '' });
  const enter = useEnter();
  const ways = useQuery(read<SignInWays>('/sign-in'));
  const byPassword = useMutation({
    mutationFn: (account_id?: number) =>
      send('POST', '/sign-in', {
        email: draft.email.trim(),
        password: draft.password,
        ...(account_id && { account_id }),
      }),
    onSuccess: enter,
    onError: (error) => !isChoice(error) && change({ password: '' }),
  });
  const byPasskey = useMutation({ mutationFn: () => proveByPasskey('/sign-in/passkey'), onSuccess: enter });
  return (
    <SignedOutLayout title="Sign in">
      <Form
        error={byPassword.error ?? byPasskey.error ?? (refused && SIGN_ON_ERRORS[refused])}
        onSubmit={() => {
          byPasskey.reset();
          byPassword.mutate(undefined);
        }}
        remedy={
          isChoice(byPassword.error) &&
          byPassword.error.accounts.map(({ id, name }) => (
            <Button key={id} onPress={() => byPassword.mutate(id)}>
              {name}
            </Button>
          ))
        }
      >
        <TextField
          {...bind('email')}
          autoComplete="username"
          autoFocus
          isRequired
          label="E-mail address"
          type="email"
        />
        <TextField
          {...bind('password')}
          autoComplete="current-password"
          isRequired
          label="Password"
          type="password"
        />
        <Button isPending={byPassword.isPending} kind="primary" type="submit">
          Sign in
        </Button>
      </Form>
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

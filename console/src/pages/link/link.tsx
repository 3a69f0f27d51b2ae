import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link as RouterLink, useNavigate, useParams } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import type { Link } from '../../../../src/console-api/sign-in/links.ts';
import { ApiError, fieldError, get, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { TextField } from '../../parts/field.tsx';
import { ErrorState, FormError, SkeletonRows } from '../../parts/states.tsx';
import { SignedOutLayout } from '../../shell/signed-out-layout.tsx';

const TITLES = {
  owner: 'Set up your sign-in',
  invitation: 'Join the team',
  reset: 'Choose a new password',
} as const;

/** What a one-time link opens: the owner's first sign-in, an invitation, or a new password. */
export function LinkPage() {
  const { token } = useParams({ from: '/link/$token' });
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: ({ signal }) => get<Link>(`/link/${encodeURIComponent(token)}`, {}, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (link.data) return <LinkForm link={link.data} token={token} />;
  if (link.error instanceof ApiError && link.error.status === 404) {
    return (
      <SignedOutLayout title="This link can’t be used">
        <p>{link.error.message}</p>
        <ButtonLink to="/sign-in">Go to sign-in</ButtonLink>
      </SignedOutLayout>
    );
  }
  return (
    <SignedOutLayout title="Your link">
      {link.error && !link.isFetching ? (
        <ErrorState error={link.error} onRetry={() => void link.refetch()} />
      ) : (
        <SkeletonRows rows={3} />
      )}
    </SignedOutLayout>
  );
}

function introduction({ purpose, account_name, signed_in }: Link): string {
  if (purpose === 'reset') return 'Your sessions with the old password will end.';
  if (signed_in) return `Join ${account_name} with your single sign-on.`;
  return purpose === 'owner'
    ? `You will own the account ${account_name}.`
    : `You were invited to ${account_name}.`;
}

function LinkForm({ link, token }: { link: Link; token: string }) {
  const { purpose, signed_in, session_email } = link;
  const [name, setName] = useState(link.name ?? '');
  const [email, setEmail] = useState(link.email ?? '');
  const [password, setPassword] = useState('');
  const queries = useQueryClient();
  const navigate = useNavigate();
  const asksName = !signed_in && purpose !== 'reset';
  const use = useMutation({
    mutationFn: () =>
      send('POST', `/link/${encodeURIComponent(token)}`, {
        ...(asksName && { name: name.trim() }),
        ...(purpose === 'owner' && { email: email.trim() }),
        ...(!signed_in && { password }),
      }),
    onSuccess: async () => {
      queries.clear();
      await navigate({ to: '/fleet', search: {}, replace: true });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    use.mutate();
  };
  const { error } = use;
  return (
    <SignedOutLayout title={TITLES[purpose]}>
      <p className="quiet">{introduction(link)}</p>
      {session_email !== null && (
        <p>
          You are signed in as <bdi>{session_email}</bdi>. This link ends that session in this browser. To
          keep it, <RouterLink to="/fleet">go back to the console</RouterLink>.
        </p>
      )}
      <form onSubmit={submit}>
        {asksName && (
          <TextField
            autoComplete="name"
            error={fieldError(error, 'name')}
            isRequired
            label="Your name"
            onChange={setName}
            value={name}
          />
        )}
        <TextField
          autoComplete="username"
          error={fieldError(error, 'email')}
          isReadOnly={purpose !== 'owner'}
          isRequired
          label="E-mail address"
          onChange={setEmail}
          type="email"
          value={email}
        />
        {!signed_in && (
          <TextField
            autoComplete="new-password"
            description="12 characters or more. A long passphrase is easier to remember than a complex password."
            error={fieldError(error, 'password')}
            isRequired
            label={purpose === 'reset' ? 'New password' : 'Password'}
            minLength={12}
            onChange={setPassword}
            type="password"
            value={password}
          />
        )}
        <Button isPending={use.isPending} kind="primary" type="submit">
          {purpose === 'reset' ? 'Set password and sign in' : signed_in ? 'Join' : 'Save and sign in'}
        </Button>
      </form>
      <FormError
        error={error}
        fields={['email', ...(asksName ? ['name'] : []), ...(signed_in ? [] : ['password'])]}
      />
    </SignedOutLayout>
  );
}

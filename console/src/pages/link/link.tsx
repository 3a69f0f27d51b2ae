import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link as RouterLink, useNavigate, useParams } from '@tanstack/react-router';
import type { Link } from '../../../../src/console-api/sign-in/links.ts';
import { read, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { TextField } from '../../parts/field.tsx';
import { Form } from '../../parts/form.tsx';
import { NewPasswordField } from '../../parts/new-password-field.tsx';
import { useAction } from '../../parts/use-action.ts';
import { useDraft } from '../../parts/use-draft.ts';
import { LinkContent, SignedOutLayout } from '../../shell/signed-out-layout.tsx';

const TITLES = {
  owner: 'Set up your sign-in',
  invitation: 'Join the team',
  reset: 'Choose a new password',
} as const;

/** What a one-time link opens: the owner's first sign-in, an invitation, or a new password. */
export function LinkPage() {
  const { token } = useParams({ from: '/link/$token' });
  const link = useQuery({
    ...read<Link>(`/link/${encodeURIComponent(token)}`),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <LinkContent link={link} title="Your link" action={<ButtonLink to="/sign-in">Go to sign-in</ButtonLink>}>
      {(data) => <LinkForm link={data} token={token} />}
    </LinkContent>
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
  const { draft, bind } = useDraft({ name: link.name ?? '', email: link.email ?? '', password: '' });
  const { name, email, password } = draft;
  const queries = useQueryClient();
  const navigate = useNavigate();
  const asksName = !signed_in && purpose !== 'reset';
  const use = useAction({
    request: () =>
      send('POST', `/link/${encodeURIComponent(token)}`, {
        ...(asksName && { name: name.trim() }),
        ...(purpose === 'owner' && { email: email.trim() }),
        ...(!signed_in && { password }),
      }),
    onDone: async () => {
      queries.clear();
      await navigate({ to: '/fleet', search: {}, replace: true });
    },
  });
  return (
    <SignedOutLayout title={TITLES[purpose]}>
      <p className="quiet">{introduction(link)}</p>
      {session_email !== null && (
        <p>
          You are signed in as <bdi>{session_email}</bdi>. This link ends that session in this browser. To
          keep it, <RouterLink to="/fleet">go back to the console</RouterLink>.
        </p>
      )}
      <Form error={use.error} onSubmit={() => use.mutate()}>
        {asksName && <TextField {...bind('name')} autoComplete="name" isRequired label="Your name" />}
        <TextField
          {...bind('email')}
          autoComplete="username"
          isReadOnly={purpose !== 'owner'}
          isRequired
          label="E-mail address"
          type="email"
        />
        {!signed_in && (
          <NewPasswordField {...bind('password')} label={purpose === 'reset' ? 'New password' : 'Password'} />
        )}
        <Button isPending={use.isPending} kind="primary" type="submit">
          {purpose === 'reset' ? 'Set password and sign in' : signed_in ? 'Join' : 'Save and sign in'}
        </Button>
      </Form>
    </SignedOutLayout>
  );
}

import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter, useSearch } from '@tanstack/react-router';
import type { Invitations } from '../../../../src/console-api/members/invitations.ts';
import { ApiError, apiUrl, get, read, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { ButtonLink } from '../../parts/button-link.tsx';
import { FormError, Loaded, SkeletonRows } from '../../parts/states.tsx';
import { SignedOutLayout } from '../../shell/signed-out-layout.tsx';

type Invitation = Invitations['data'][number];

/** The invitations of a person who uses single sign-on, to accept or decline. */
export function InvitationsPage() {
  const invitations = useQuery(read<Invitations>('/invitations'));
  const { error } = invitations;
  if (error instanceof ApiError && error.status === 401) {
    return (
      <SignedOutLayout title="Invitations">
        <p>Sign in to see your invitations.</p>
        <ButtonLink to="/sign-in">Go to sign-in</ButtonLink>
      </SignedOutLayout>
    );
  }
  return (
    <SignedOutLayout title="Invitations">
      <Loaded query={invitations} skeleton={<SkeletonRows rows={3} />}>
        {({ acts, data }) => <Answers acts={acts} invitations={data} />}
      </Loaded>
    </SignedOutLayout>
  );
}

/** Below the buttons, so that they stay where they are. */
function AnswerError({ error, next }: { error: Error | null; next: string | undefined }) {
  const again = `/invitations${next === undefined ? '' : `?${new URLSearchParams({ next })}`}`;
  const isProofNeeded = error instanceof ApiError && error.code === 'proof_needed';
  return (
    <FormError error={isProofNeeded ? null : error}>
      {isProofNeeded && (
        <>
          <p>You signed in more than 10 minutes ago. Sign in again, then accept.</p>
          <a className="button plain" href={apiUrl('/sign-in/oidc', { next: again })}>
            Sign in with single sign-on
          </a>
        </>
      )}
    </FormError>
  );
}

function Answers({ acts, invitations }: { acts: boolean; invitations: Invitation[] }) {
  const queries = useQueryClient();
  const router = useRouter();
  const { next } = useSearch({ from: '/invitations' });
  const go = async () => {
    queries.clear();
    await router.navigate({ href: next ?? '/', replace: true });
  };
  const answer = useMutation({
    mutationFn: ({ id, word }: { id: number; word: 'accept' | 'decline' }) =>
      send('POST', `/invitations/${id}/${word}`),
    onSuccess: async () => {
      const left = await queries.fetchQuery<Invitations>({
        queryKey: ['invitations'],
        queryFn: () => get('/invitations'),
        staleTime: 0,
      });
      if (left.data.length === 0 && left.acts) await go();
    },
  });
  return (
    <>
      {invitations.length === 0 && <p>You have no invitations.</p>}
      {invitations.map(({ account_id: id, account_name, roles, joined }) => (
        <section aria-label={account_name} key={id}>
          <h2>{account_name}</h2>
          <p className="quiet">
            {joined
              ? 'You sign in to this account with a password. Accepting replaces that password and its passkeys with single sign-on.'
              : `Invites you as ${roles.join(', ')}.`}
          </p>
          <div className="entrance-answers">
            <Button
              isPending={answer.isPending}
              kind="primary"
              onPress={() => answer.mutate({ id, word: 'accept' })}
            >
              {joined ? 'Use single sign-on' : 'Accept'}
            </Button>
            {!joined && (
              <Button isPending={answer.isPending} onPress={() => answer.mutate({ id, word: 'decline' })}>
                Decline
              </Button>
            )}
          </div>
          <AnswerError error={answer.variables?.id === id ? answer.error : null} next={next} />
        </section>
      ))}
      {acts && <Button onPress={() => void go()}>Continue to the console</Button>}
    </>
  );
}

import { useMutation, useQuery } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { Email } from '../../../../src/console-api/notifications/email-routes.ts';
import { read, send } from '../../api.ts';
import { Button } from '../../parts/button.tsx';
import { FormError } from '../../parts/states.tsx';
import { LinkContent, SignedOutLayout } from '../../shell/signed-out-layout.tsx';

/** What a link in an e-mail opens: a recipient confirms or unsubscribes, without a session. */
export function EmailPage() {
  const { token } = useParams({ from: '/email/$token' });
  const link = useQuery({
    ...read<Email>(`/email/${encodeURIComponent(token)}`),
    staleTime: Number.POSITIVE_INFINITY,
  });
  return (
    <LinkContent link={link} title="Notifications">
      {(email) => <Choice email={email} token={token} />}
    </LinkContent>
  );
}

function Choice({ email: { account, destination, email, state }, token }: { email: Email; token: string }) {
  const act = useMutation({
    mutationFn: (step: 'confirm' | 'unsubscribe') =>
      send('POST', `/email/${encodeURIComponent(token)}/${step}`),
  });
  const done = act.isSuccess ? act.variables : null;
  const address = <strong className="email-address">{email}</strong>;
  if (done === 'confirm') {
    return (
      <SignedOutLayout title="Confirmed">
        <p>
          {address} gets the notifications of <bdi>{destination}</bdi> from now on.
        </p>
        <p className="quiet">Each message has a link to unsubscribe. You can close this page.</p>
      </SignedOutLayout>
    );
  }
  if (done === 'unsubscribe') {
    return (
      <SignedOutLayout title="Unsubscribed">
        <p>
          {address} gets no more notifications of <bdi>{destination}</bdi>, nor of any other destination. You
          can close this page.
        </p>
      </SignedOutLayout>
    );
  }
  const isConfirmed = state === 'confirmed';
  return (
    <SignedOutLayout title={isConfirmed ? 'Unsubscribe?' : 'Confirm your address'}>
      <p>
        <bdi>{account}</bdi> {isConfirmed ? 'sends' : 'wants to send'} database notifications of{' '}
        <bdi>{destination}</bdi> to {address}.
      </p>
      {state === 'unsubscribed' && (
        <p className="quiet">You unsubscribed earlier. Confirm to get them again.</p>
      )}
      <Button
        isPending={act.isPending}
        kind="primary"
        onPress={() => act.mutate(isConfirmed ? 'unsubscribe' : 'confirm')}
      >
        {isConfirmed ? 'Unsubscribe' : 'Confirm'}
      </Button>
      <FormError error={act.error} />
      {!isConfirmed && (
        <p className="quiet small">If you did not expect this, close the page: nothing is sent.</p>
      )}
    </SignedOutLayout>
  );
}

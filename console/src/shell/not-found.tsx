import { Link } from '@tanstack/react-router';
import { ButtonLink } from '../parts/button-link.tsx';
import { SignedOutLayout } from './signed-out-layout.tsx';

/** Shown for an unknown address, which the service answered with 404. */
export function NotFound() {
  return (
    <SignedOutLayout title="Page not found">
      <p>There is no page at this address.</p>
      <ButtonLink kind="primary" to="/fleet">
        Go to fleet
      </ButtonLink>
      <p>
        <Link to="/tickets">Tickets</Link> · <Link to="/keys">API keys</Link> ·{' '}
        <Link to="/sign-in">Sign in</Link>
      </p>
    </SignedOutLayout>
  );
}

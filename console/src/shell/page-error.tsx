import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Page } from '../parts/page.tsx';
import { ErrorState } from '../parts/states.tsx';

/** Shown when a page fails; retrying loads it again. */
export function PageError(props: ErrorComponentProps) {
  return (
    <Page title="Something went wrong">
      <RouteError {...props} />
    </Page>
  );
}

/** Why a route failed, and a button that loads it again. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return <ErrorState error={error} onRetry={retry} />;
}

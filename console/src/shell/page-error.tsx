import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { Page } from '../parts/page.tsx';
import { ErrorState } from '../parts/states.tsx';

/** Shown when a page fails; retrying loads it again. */
export function PageError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Page title="Something went wrong">
      <ErrorState error={error} onRetry={retry} />
    </Page>
  );
}

import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorState } from '../parts/states.tsx';
import { SignedOutLayout } from './signed-out-layout.tsx';

/** Shown when the profile could not be loaded. */
export function StartError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <SignedOutLayout title="The console could not start">
      <ErrorState error={error} onRetry={retry} />
    </SignedOutLayout>
  );
}

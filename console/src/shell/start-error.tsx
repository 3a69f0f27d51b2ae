import { type ErrorComponentProps, useRouter } from '@tanstack/react-router';
import { ErrorState } from '../parts/states.tsx';
import { Entrance } from './signed-out-layout.tsx';

/** When the service does not say who is signed in. */
export function StartError({ error, reset }: ErrorComponentProps) {
  const router = useRouter();
  const retry = () => {
    reset();
    void router.invalidate();
  };
  return (
    <Entrance title="The console could not start">
      <ErrorState error={error} onRetry={retry} />
    </Entrance>
  );
}

import type { ErrorComponentProps } from '@tanstack/react-router';
import { RouteError } from './page-error.tsx';
import { SignedOutLayout } from './signed-out-layout.tsx';

/** Shown when the profile could not be loaded. */
export function StartError(props: ErrorComponentProps) {
  return (
    <SignedOutLayout title="The console could not start">
      <RouteError {...props} />
    </SignedOutLayout>
  );
}

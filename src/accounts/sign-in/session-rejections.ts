import { Rejection } from '../../platform/rejection.ts';

export const signedOut = new Rejection('unauthorized', 'You are signed out. Sign in again.');

/** Required for changes of credentials: a stolen session must not gain access that outlives it. */
export const proofNeeded = new Rejection(
  'proof_needed',
  'This change requires a sign-in within the last 10 minutes. Confirm your identity, then try again.',
);

/** The rejection for a missing permission. */
export function lacking(permission: string): Rejection {
  return new Rejection(
    'forbidden',
    `You need the permission ${permission}, which none of your roles has. Ask an owner of the account.`,
  );
}

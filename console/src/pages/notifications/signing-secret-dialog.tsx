import type { ReactNode } from 'react';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { SigningSecret } from './signing-secret.tsx';

interface SigningSecretDialogProps {
  title: string;
  /** Null if there is none to show. */
  secret: string | null;
  onDone: () => void;
  /** Buttons beside Done. */
  actions?: ReactNode;
  children?: ReactNode;
}

/** A dialog that may show a signing secret, once. */
export function SigningSecretDialog({ secret, children, ...dialog }: SigningSecretDialogProps) {
  const kept = secret?.startsWith('whpk_') ? 'stored the key' : 'stored the secret';
  return (
    <ShownOnce {...dialog} kept={secret === null ? null : kept}>
      {children}
      {secret !== null && <SigningSecret secret={secret} />}
    </ShownOnce>
  );
}

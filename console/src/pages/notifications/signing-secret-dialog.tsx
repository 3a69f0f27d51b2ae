import type { ReactNode } from 'react';
import { CodeBlock } from '../../parts/copy.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';

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

const VERIFY = `import { Webhook } from 'standardwebhooks';

// \`body\` is the request's body as it arrived: a string, not parsed.
new Webhook(process.env.DBVITALS_WEBHOOK_SECRET).verify(body, headers);`;

const PUBLIC = 'whpk_';

/** What a webhook's receiver verifies with, shown once: the shared secret, or the public key of the signature. */
function SigningSecret({ secret }: { secret: string }) {
  if (secret.startsWith(PUBLIC)) {
    return (
      <section aria-label="Public key" className="signing-secret">
        <h3>Public key</h3>
        <p className="quiet">
          Every request is signed with Ed25519. The receiver verifies the signature <code>v1a</code> with this
          key, which is not secret.
        </p>
        <CodeBlock text={secret} what="public key" />
      </section>
    );
  }
  return (
    <section aria-label="Signing secret" className="signing-secret">
      <h3>Signing secret</h3>
      <p className="quiet">
        Every request is signed with this secret. It is shown only now: store it like a password.
      </p>
      <CodeBlock text={secret} what="signing secret" />
      <p className="quiet">Verify each request with it, here with Node.js:</p>
      <CodeBlock text={VERIFY} what="code" />
    </section>
  );
}

import './keys.css';
import { useEffect, useState } from 'react';
import type { KeyWindows } from '../../../../src/console-api/keys/key-routes.ts';
import { get } from '../../api.ts';
import { serviceUrl } from '../../base-path.ts';
import { announce } from '../../parts/announcer.tsx';
import { CodeBlock } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icons.tsx';
import { ShownOnce } from '../../parts/shown-once.tsx';
import { Countdown, Time } from '../../parts/time.tsx';

/** A key that was just created; it is known only now. */
export interface NewSecret {
  id: number;
  name: string;
  key: string;
  expires_at: string | null;
  /** For a regenerated key: when the old one stops working. */
  old_revoked_at: string | null;
}

/** Polls without the query cache: an ended session must not navigate away while the key is shown. */
function useFirstRequest(id: number): string | null {
  const [at, setAt] = useState<string | null>(null);
  useEffect(() => {
    if (at) return;
    const stopped = new AbortController();
    const timer = setInterval(async () => {
      const windows = await get<KeyWindows>('/keys/windows', {}, stopped.signal).catch(() => null);
      const used = windows?.data.find((window) => window.id === id)?.last_used_at;
      if (!used || stopped.signal.aborted) return;
      setAt(used);
      announce('The first request with the new key has arrived');
    }, 2_000);
    return () => {
      stopped.abort();
      clearInterval(timer);
    };
  }, [id, at]);
  return at;
}

/** Shows a new key once, and says when the first request with it has arrived. */
export function SecretDialog({ secret, onDone }: { secret: NewSecret; onDone: () => void }) {
  const firstAt = useFirstRequest(secret.id);
  const curl = `curl -H 'Authorization: Bearer ${secret.key}' ${serviceUrl()}/api/v1/health/fleet`;
  return (
    <ShownOnce
      kept="stored the key"
      onDone={onDone}
      title={secret.old_revoked_at ? 'Your new key' : 'Your key'}
    >
      <p>
        This is the only time that the key <bdi className="keys-name">{secret.name}</bdi> is shown: the
        service stores only a hash of it. Treat it like a password.
      </p>
      <CodeBlock text={secret.key} what="API key" />
      <p className="quiet">
        {secret.expires_at ? (
          <>
            It expires <Time as="full" at={secret.expires_at} />.
          </>
        ) : (
          'It does not expire: regenerate it from time to time.'
        )}
      </p>
      {secret.old_revoked_at && <OldApiKey endsAt={secret.old_revoked_at} />}
      <div className="keys-try">
        <h3>Try it</h3>
        <CodeBlock text={curl} what="curl command" />
        <p className={firstAt ? 'keys-arrived' : 'keys-waiting'}>
          <Icon name={firstAt ? 'check' : 'clock'} />
          {firstAt ? (
            <span>
              The first request has arrived: <Time as="full" at={firstAt} seconds />
            </span>
          ) : (
            <span>Waiting for the first request…</span>
          )}
        </p>
      </div>
    </ShownOnce>
  );
}

function OldApiKey({ endsAt }: { endsAt: string }) {
  const [isOver] = useState(() => new Date(endsAt).getTime() <= Date.now() + 1_000);
  if (isOver) return <p>The old key is no longer accepted.</p>;
  return (
    <p>
      The old key works until <Time as="full" at={endsAt} seconds />. Time left:{' '}
      <Countdown over="none" to={endsAt} />.
    </p>
  );
}

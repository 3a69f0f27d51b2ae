import { Link } from '@tanstack/react-router';
import { Button } from '../../parts/button.tsx';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Time } from '../../parts/time.tsx';
import type { ApiKeyAction, ApiKeyState } from './api-key-state.ts';

/** Warns above the list of keys that expire soon. */
export function ExpiryWarning({ keys, act }: { keys: ApiKeyState[]; act: ApiKeyAction | null }) {
  const ending = keys
    .filter(({ status }) => status === 'expiring')
    .toSorted((a, b) => (a.subject.expires_at ?? '').localeCompare(b.subject.expires_at ?? ''));
  if (ending.length === 0) return null;
  return (
    <section aria-label="Keys that expire soon" className="keys-expiring">
      <StatusMark
        status="warning"
        word={ending.length === 1 ? '1 key expires soon' : `${ending.length} keys expire soon`}
      />
      <ul>
        {ending.slice(0, 5).map((key) => (
          <li key={key.subject.id}>
            <span>
              <Link search={{ key: String(key.subject.id) }} to="/keys">
                <bdi className="keys-name">{key.subject.name}</bdi>
              </Link>
              {key.subject.expires_at && (
                <>
                  {' expires '}
                  <Time at={key.subject.expires_at} />
                </>
              )}
              {key.lastUsedAt === null ? ', never used' : <LastUsed at={key.lastUsedAt} />}
            </span>
            {act && (
              <Button
                aria-label={`Regenerate ${key.subject.name}`}
                icon="again"
                onPress={() => act('regenerate', key)}
                small
              >
                Regenerate
              </Button>
            )}
          </li>
        ))}
      </ul>
      {ending.length > 5 && (
        <Link search={{ status: 'expiring' }} to="/keys">
          Show all {ending.length}
        </Link>
      )}
    </section>
  );
}

function LastUsed({ at }: { at: string }) {
  return (
    <>
      , last used <Time at={at} />
    </>
  );
}

import { Link } from '@tanstack/react-router';
import { StatusMark } from '../../parts/status-mark.tsx';
import { Countdown, localDay, Time } from '../../parts/time.tsx';
import type { ApiKey, ApiKeyStatus } from './api-key-lifetime.ts';

const LOOKS = {
  active: { status: 'active', word: 'Active' },
  expiring: { status: 'warning', word: 'Expires soon' },
  replaced: { status: 'replaced', word: 'Being replaced' },
  revoked: { status: 'revoked', word: 'Revoked' },
  expired: { status: 'expired', word: 'Expired' },
} as const;

/** The label of a key's status. */
export function apiKeyStatusText(status: ApiKeyStatus): string {
  return LOOKS[status].word;
}

/** A key's status, with its replacement and the time that the old key has left. */
export function ApiKeyStatusCell({ subject, status }: { subject: ApiKey; status: ApiKeyStatus }) {
  const { replaced_by, replaces, revoked_at } = subject;
  return (
    <div className="keys-state">
      <StatusMark quiet status={LOOKS[status].status} word={LOOKS[status].word} />
      {status === 'replaced' && revoked_at && (
        <span className="small">
          ends in <Countdown over="a moment" to={revoked_at} />
        </span>
      )}
      {status === 'revoked' && revoked_at && (
        <span className="small quiet">
          <Time at={revoked_at} />
        </span>
      )}
      {replaced_by !== null && (
        <span className="small quiet">
          replaced by <OtherApiKey id={replaced_by} />
        </span>
      )}
      {replaces !== null && (
        <span className="small quiet">
          replaces <OtherApiKey id={replaces} />
        </span>
      )}
    </div>
  );
}

function OtherApiKey({ id }: { id: number }) {
  return (
    <Link search={{ key: String(id) }} to="/keys">
      key {id}
    </Link>
  );
}

/** The day on which a key expires, and the time until then. */
export function ApiKeyExpiry({ subject: { expires_at }, status }: { subject: ApiKey; status: ApiKeyStatus }) {
  if (expires_at === null) return <span className="quiet">never</span>;
  if (status === 'revoked') return <span className="quiet">{localDay(expires_at)}</span>;
  return (
    <>
      {localDay(expires_at)}
      <div className="small quiet">
        <Time at={expires_at} />
      </div>
    </>
  );
}

/** When a key was last used, and from which address. */
export function LastUse({ subject, at }: { subject: ApiKey; at: string | null }) {
  if (at === null) return <span className="quiet">never</span>;
  return (
    <>
      <Time at={at} />
      {subject.last_used_from && <div className="small quiet mono">{subject.last_used_from}</div>}
    </>
  );
}

/** Who created a key: a member, a former member, or the operator at the command line. */
export function createdBy({ created_by }: ApiKey): string {
  if (created_by === null) return 'the operator';
  return created_by.name ?? 'a former member';
}

/** Requests of the last 24 hours and how many of them were over the limit. */
export function Requests({ subject }: { subject: ApiKey }) {
  const { requests_24h, limited_24h } = subject;
  if (requests_24h === null) return <span className="quiet">counting…</span>;
  return (
    <>
      {requests_24h.toLocaleString('en')}
      {limited_24h !== null && limited_24h > 0 && (
        <div className="small keys-limited">{limited_24h.toLocaleString('en')} × 429</div>
      )}
    </>
  );
}

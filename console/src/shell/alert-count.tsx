import { useQuery } from '@tanstack/react-query';
import type { OpenCount } from '../../../src/console-api/alerts/alert-schemas.ts';
import { read } from '../api.ts';

const RENEWED_MS = 60_000;
/** The service counts no further. */
const MOST = 100;

/** How many open alerts nobody has acknowledged; nothing for none. */
export function AlertCount() {
  const { data } = useQuery({
    ...read<OpenCount>('/alerts/count'),
    refetchInterval: RENEWED_MS,
    staleTime: RENEWED_MS,
  });
  if (!data || data.unacknowledged === 0) return null;
  const text = data.unacknowledged < MOST ? String(data.unacknowledged) : `${MOST - 1}+`;
  return (
    <span className="navigation-count">
      {text}
      <span className="hidden-text"> not acknowledged</span>
    </span>
  );
}

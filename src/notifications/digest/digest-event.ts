import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import type { NewEvent } from '../event.ts';
import { digestText } from './digest-text.ts';
import type { Digest } from './read-digest.ts';

/** The event that takes a digest to one destination. Its days are those of the time zone. */
export function digestEvent(digest: Digest, timeZone: string, destinationId: number): NewEvent {
  const { account, from, until } = digest;
  const text = digestText(digest, timeZone);
  return {
    kind: 'digest',
    severity: null,
    connection: null,
    destinationIds: [destinationId],
    data: { account_id: account.id, from, until },
    details: {
      connection: null,
      title: text.title,
      check_id: null,
      database: '',
      object: null,
      metric_line: null,
      measured: null,
      since: null,
      remediation: null,
      resolution: null,
      page: PAGE_LINKS.fleet(),
      digest: text,
    },
  };
}

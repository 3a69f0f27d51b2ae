import { SEVERITIES, type Severity } from '../../../../src/vocabulary/severities.ts';
import { dayOrInstant } from '../../parts/day.ts';

/** The page's search parameters: the API's filters and the open ticket. */
export interface TicketsSearch {
  /** Default: open. */
  status?: (typeof STATUSES)[number] | undefined;
  severity?: Severity | undefined;
  connection_id?: string | undefined;
  from?: string | undefined;
  to?: string | undefined;
  ticket?: string | undefined;
}

const STATUSES = ['open', 'resolved', 'all'] as const;

const ID = /^[1-9]\d{0,15}$/;

/** Parses an untrusted URL. */
export function ticketsSearch(given: Record<string, string>): TicketsSearch {
  const { connection_id, ticket } = given;
  const status = STATUSES.find((word) => word === given['status']);
  const severity = SEVERITIES.find((word) => word === given['severity']);
  const from = dayOrInstant(given['from']);
  const to = dayOrInstant(given['to']);
  return {
    ...(status && { status }),
    ...(severity && { severity }),
    ...(connection_id && ID.test(connection_id) && { connection_id }),
    ...(from && { from }),
    ...(to && { to }),
    ...(ticket && ID.test(ticket) && { ticket }),
  };
}

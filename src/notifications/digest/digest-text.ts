import { cleanText } from '../../platform/text/clean-text.ts';
import { duration } from '../../platform/text/duration-text.ts';
import { metricWords } from '../../platform/text/metric-words.ts';
import { valueText } from '../../platform/text/value-text.ts';
import { PAGE_LINKS } from '../../vocabulary/page-paths.ts';
import { SEVERITIES } from '../../vocabulary/severities.ts';
import type { DigestText } from '../event.ts';
import type { Digest } from './read-digest.ts';

type Tickets = NonNullable<Digest['open']>;
type Ticket = Tickets['first'][number];

type Part = DigestText['parts'][number];

/** A name of strangers in one line. */
const clean = (text: string) => cleanText(text, 200);

const total = ({ critical, warning, info }: Tickets) => critical + warning + info;

/** Two lines if nothing needs a person; else the parts that do, the most urgent first. */
export function digestText(digest: Digest, timeZone: string): DigestText {
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, day: 'numeric', month: 'long', year: 'numeric' });
  const { account, from, until, connections, score } = digest;
  const databases = `${connections} ${connections === 1 ? 'database' : 'databases'}`;
  const parts = partsOf(digest, day).filter(({ lines }) => lines.length > 0);
  const hasProblem = parts.some(({ heading }) => heading !== GROWS && !heading.startsWith(CLOSED));
  return {
    title: `${clean(account.name)}: ${day.format(from)} to ${day.format(until)}`,
    summary: [`${databases}, ${scoreText(score)}.${ticketText(digest)}`, backupText(digest.backups)],
    parts: hasProblem ? parts : [],
  };
}

function scoreText({ now, before }: Digest['score']): string {
  if (now === null) return 'no score yet';
  if (before === null) return `score ${now}`;
  return now === before ? `score ${now} as before` : `score ${now}, ${before} before`;
}

function ticketText({ opened, closed, open }: Digest): string {
  if (!opened || !closed || !open) return '';
  if (total(opened) + total(closed) + total(open) === 0) return ' Nothing opened, and nothing is open.';
  return ` Opened: ${counts(opened)}. Closed: ${total(closed)}. Still open: ${counts(open)}.`;
}

function counts(tickets: Tickets): string {
  const parts = SEVERITIES.flatMap((severity) =>
    tickets[severity] === 0 ? [] : [`${tickets[severity]} ${severity}`],
  );
  return parts.length === 0 ? '0' : parts.join(', ');
}

function backupText({ expected, overdue, failed }: Digest['backups']): string {
  if (expected === 0) return 'No backup is expected.';
  const well = expected - overdue.length - failed.length;
  return well === expected
    ? `Backups: all ${expected} as expected.`
    : `Backups: ${well} of ${expected} as expected.`;
}

function partsOf(digest: Digest, day: Intl.DateTimeFormat): Part[] {
  const { backups, until } = digest;
  const age = (at: Date) => duration((until.getTime() - at.getTime()) / 1_000);
  const tickets = (heading: string, list: Tickets | null): Part => ({
    heading: list === null ? heading : more(heading, total(list), list.first.length),
    lines: (list?.first ?? []).map((ticket) => ({
      text: `${ticketName(ticket)}, ${ticketAge(ticket, until)}`,
      path: PAGE_LINKS.ticket(ticket.id),
    })),
  });
  return [
    {
      heading: 'Backups that are missing',
      lines: [
        ...backups.overdue.map(({ connection_id, connection, last }) => ({
          text: `${clean(connection)}: ${last === null ? 'none yet' : `the last succeeded ${age(last)} ago`}`,
          path: PAGE_LINKS.connection(connection_id),
        })),
        ...backups.failed.map(({ connection_id, connection, at }) => ({
          text: `${clean(connection)}: failed ${age(at)} ago`,
          path: PAGE_LINKS.connection(connection_id),
        })),
      ].slice(0, MOST_BACKUPS),
    },
    tickets('Opened', digest.opened),
    tickets(CLOSED, digest.closed),
    tickets('Still open', digest.open),
    tickets('Nobody touched', digest.untouched),
    ...forecasts(digest, day),
    {
      heading: GROWS,
      lines: digest.grew.map((one) => ({
        text: `${clean(one.connection)}: ${seriesName(one)}, ${valueText(one.bytes_per_day, 'bytes')} a day`,
        path: PAGE_LINKS.connection(one.connection_id),
      })),
    },
  ];
}

/** What will be full, and the own checks that will reach their last level. */
function forecasts({ will_be_full }: Digest, day: Intl.DateTimeFormat): Part[] {
  const full = will_be_full.filter((one) => one.own_check === null);
  const worse = will_be_full.filter((one) => one.own_check !== null);
  const toLine = (one: (typeof will_be_full)[number]) => {
    const { connection, connection_id, object, full_at, own_check } = one;
    const name = own_check
      ? `${clean(own_check.title)}${object === null ? '' : `, ${clean(object)}`}, ${own_check.level}`
      : seriesName(one);
    return {
      text: `${clean(connection)}: ${name} on ${day.format(full_at)}`,
      path: PAGE_LINKS.connection(connection_id),
    };
  };
  return [
    { heading: 'Will be full', lines: full.map(toLine) },
    { heading: 'Will get worse', lines: worse.map(toLine) },
  ];
}

const MOST_BACKUPS = 4;
/** Everything grows: by itself it is no problem. */
const GROWS = 'Grows most';
/** Nor is what is over. */
const CLOSED = 'Closed';

function more(heading: string, all: number, named: number): string {
  return all > named ? `${heading} (the first ${named} of ${all})` : heading;
}

function ticketAge({ since, closed_at }: Ticket, until: Date): string {
  const age = duration(((closed_at ?? until).getTime() - since.getTime()) / 1_000);
  return closed_at === null ? `for ${age}` : `closed after ${age}`;
}

function ticketName({ severity, connection, title, object }: Ticket): string {
  const place = object === null ? '' : `, ${clean(object)}`;
  return `${severity}: ${clean(connection)}: ${clean(title)}${place}`;
}

/** Metrics that are named for what they measure: `Table public.orders`. */
const THINGS = new Set(['database_bytes', 'table_bytes']);

function seriesName({ metric, object, database }: Digest['grew'][number] | Digest['will_be_full'][number]) {
  const place = clean(object ?? database);
  if (place === '') return metricWords(metric);
  return `${metricWords(metric)}${THINGS.has(metric) ? '' : ' of'} ${place}`;
}

import { createClient, DbvitalsError, type List } from '../../../client/src/index.ts';
import { createGauges } from './exported-gauges.ts';

/** How long a scrape waits for its API request. Prometheus waits 10 s by default. */
const PATIENCE_MS = 5_000;
/** How long to pause requests for a part that the plan does not include. The plan may change. */
const EXCLUDED_MS = 3_600_000;

/** A part of the figures. `read` makes one request, and returns whether the part is complete. */
interface Part {
  name: 'fleet' | 'statistics' | 'connections' | 'tickets';
  read(): Promise<boolean>;
  notBefore: number;
}

/**
 * Keeps an account's figures. Each scrape updates one part with at most one request; every second scrape updates the
 * fleet. Calls `say` with a message when requests start to fail for another reason than before.
 */
export function keepFigures(url: string, apiKey: string, say: (line: string) => void) {
  const gauges = createGauges();
  const dbvitals = createClient({
    baseUrl: url,
    apiKey,
    retry: false,
    async fetch(request) {
      const response = await fetch(request);
      gauges.answered(response);
      return response;
    },
  });
  const part = (name: Part['name'], read: Part['read']): Part => ({ name, read, notBefore: 0 });
  const fleet = part('fleet', async () => {
    gauges.fleet(await dbvitals.fleet());
    return true;
  });
  const statistics = part('statistics', async () => {
    gauges.statistics(await dbvitals.ticketStatistics());
    return true;
  });
  const connections = part(
    'connections',
    pageByPage(() => dbvitals.connections(), gauges.connections),
  );
  const tickets = part(
    'tickets',
    pageByPage(() => dbvitals.tickets({ status: 'open' }), gauges.openTickets),
  );
  const turns = [fleet, statistics, fleet, connections, fleet, tickets];
  let turn = 0;
  let notBefore = 0;
  let failing = '';
  let underWay: Promise<void> | null = null;

  async function renew(): Promise<void> {
    const now = Date.now();
    if (now < notBefore) return;
    const order = [...turns.slice(turn), ...turns.slice(0, turn)];
    const next = order.findIndex((due) => due.notBefore <= now);
    const due = order[next];
    if (due === undefined) return;
    turn = (turn + next + 1) % turns.length;
    try {
      if (await due.read()) gauges.renewed(due.name);
      gauges.up(true);
      failing = '';
    } catch (error) {
      const { code, status, message, retryAfter, requestId } = known(error);
      if (retryAfter !== null) notBefore = Date.now() + retryAfter * 1_000;
      if (code === 'tier_insufficient') due.notBefore = Date.now() + EXCLUDED_MS;
      else if (status !== 429) gauges.up(false);
      if (code !== failing)
        say(`${due.name}: ${message}${requestId === null ? '' : ` (request ${requestId})`}`);
      failing = code;
    }
  }

  return {
    contentType: gauges.registry.contentType,
    /** Returns the figures as text, after this scrape's request is answered or has timed out. */
    async scrape(): Promise<string> {
      underWay ??= renew().finally(() => {
        underWay = null;
      });
      let timer: NodeJS.Timeout | undefined;
      const patience = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, PATIENCE_MS);
      });
      await Promise.race([underWay, patience]);
      clearTimeout(timer);
      return gauges.registry.metrics();
    },
  };
}

/** Reads a list page by page and passes it to `whole` when it is complete. After a failure it starts again. */
function pageByPage<Item>(list: () => List<Item>, whole: (items: Item[]) => void): () => Promise<boolean> {
  let pages = list().pages();
  let items: Item[] = [];
  const begin = () => {
    pages = list().pages();
    items = [];
  };
  return async () => {
    const { value: page } = await pages.next().catch((error) => {
      begin();
      throw error;
    });
    items.push(...(page?.data ?? []));
    if (page?.meta.has_more) return false;
    whole(items);
    begin();
    return true;
  };
}

function known(error: unknown): DbvitalsError {
  if (error instanceof DbvitalsError) return error;
  throw error;
}

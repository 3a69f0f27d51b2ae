import { createClient, type DbvitalsClient, DbvitalsError, type List } from '../../../client/src/index.ts';
import { createGauges } from './exported-gauges.ts';
import { KeyBudget } from './key-budget.ts';
import { FLEET_INCLUDES, MeasuresByKey } from './measures-by-key.ts';
import { type LatestValues, writeMeasures } from './write-measures.ts';

/** How long a scrape waits for its API requests. Prometheus waits 10 s by default. */
const PATIENCE_MS = 5_000;
/** How long to pause requests for a part that plan or scopes do not include. They may change. */
const EXCLUDED_MS = 3_600_000;

/** A part of the figures. `read` makes one request, and returns whether the part is complete. */
interface Part {
  name: 'fleet' | 'statistics' | 'connections' | 'tickets';
  read(): Promise<boolean>;
  notBefore: number;
}

type Gauges = ReturnType<typeof createGauges>;

/**
 * Keeps what a service knows of an account. Each scrape updates one part with at most one request, every second scrape the fleet, and
 * reads the values of connections that were measured since. Calls `say` with a message when requests start to fail for another
 * reason than before.
 */
export function keepFigures(url: string, readKey: () => string, say: (line: string) => void) {
  const gauges = createGauges();
  const budget = new KeyBudget();
  const dbvitals = createClient({
    baseUrl: url,
    apiKey: readKey(),
    retry: false,
    async fetch(request) {
      request.headers.set('authorization', `Bearer ${readKey()}`);
      const response = await fetch(request);
      gauges.answered(response);
      budget.answered(response.headers);
      return response;
    },
  });
  const measures = new MeasuresByKey(dbvitals, budget);
  const renew = renewer({ turns: listParts(dbvitals, gauges, measures), gauges, measures, say });
  const [fleet] = listParts(dbvitals, gauges, measures);
  const renewValues = renewer({ turns: fleet ? [fleet] : [], gauges, measures, say });
  let underWay: Promise<void> | null = null;

  return {
    contentType: gauges.registry.contentType,
    /** Returns the figures as text, after this scrape's requests are answered or have timed out. */
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
      return `${await gauges.registry.metrics()}${writeMeasures(measures.latest())}`;
    },
    /** Returns the measured values alone, after their requests are answered. */
    async latest(): Promise<LatestValues> {
      await renewValues();
      return measures.latest();
    },
  };
}

/** Returns what makes the requests of a scrape. */
function renewer({
  turns,
  gauges,
  measures,
  say,
}: {
  turns: readonly Part[];
  gauges: Gauges;
  measures: MeasuresByKey;
  say: (line: string) => void;
}): () => Promise<void> {
  let turn = 0;
  let notBefore = 0;
  let failing = '';

  async function attempt(part: string, read: () => Promise<void>): Promise<string> {
    try {
      await read();
      gauges.up(true);
      failing = '';
      return '';
    } catch (error) {
      if (!(error instanceof DbvitalsError)) throw error;
      const { code, status, message, retryAfter, requestId } = error;
      if (retryAfter !== null) notBefore = Date.now() + retryAfter * 1_000;
      if (!isExcluded(code) && status !== 429) gauges.up(false);
      if (code !== failing) say(`${part}: ${message}${requestId === null ? '' : ` (request ${requestId})`}`);
      failing = code;
      return code;
    }
  }

  return async () => {
    const now = Date.now();
    if (now < notBefore) return;
    const order = [...turns.slice(turn), ...turns.slice(0, turn)];
    const next = order.findIndex((due) => due.notBefore <= now);
    const due = order[next];
    if (due === undefined) return;
    turn = (turn + next + 1) % turns.length;
    const code = await attempt(due.name, async () => {
      if (await due.read()) gauges.renewed(due.name);
    });
    if (isExcluded(code)) due.notBefore = now + EXCLUDED_MS;
    if (code !== '') return;
    await attempt('measures', async () => {
      if (await measures.readNew()) gauges.renewed('measures');
    });
  };
}

/** Whether the plan or the key's scopes do not include what was asked: no list and no sum of an account is ever missing. */
function isExcluded(code: string): boolean {
  return code === 'tier_insufficient' || code === 'not_found';
}

function listParts(dbvitals: DbvitalsClient, gauges: Gauges, measures: MeasuresByKey): Part[] {
  const part = (name: Part['name'], read: Part['read']): Part => ({ name, read, notBefore: 0 });
  const fleet = part('fleet', async () => {
    const answer = await dbvitals.fleet({ include: FLEET_INCLUDES });
    gauges.fleet(answer);
    measures.follow(answer);
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
  return [fleet, statistics, fleet, connections, fleet, tickets];
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

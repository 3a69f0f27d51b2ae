import { askOnce, medianTimes } from './ask.ts';
import { type Figure, under } from './figure.ts';
import { middleThird } from './mixes.ts';
import type { Server } from './servers.ts';

const TIMES = 200;

/** Parameters that begin with `_` are ignored, but their URLs are not cached, so every request reads the store. */
function unkept(path: string) {
  return (n: number) => `${path}${path.includes('?') ? '&' : '?'}_=${n}`;
}

/** Measures tickets by all filters, ticket statistics and the fleet, for the key's account. */
export async function measureTicketsAndFleet({ port }: Server, key: string, days: number): Promise<Figure[]> {
  const ask = <Body>(path: string) => askOnce<Body>(port, key, path);
  const median = async (path: (n: number) => string, times: number) =>
    (await medianTimes(port, [{ key, path }], times))[0] ?? 0;
  const { data } = await ask<{ data: { id: number }[] }>('/health/connections?per_page=1&page=5');
  const paths: string[] = [];
  for (const filter of ticketFilters(data[0]?.id ?? 0, days)) {
    const path = `/ops/tickets?per_page=100${filter}`;
    const { meta } = await ask<{ meta: { total: number } }>(path);
    const last = Math.max(1, Math.ceil(meta.total / 100));
    for (const page of new Set([1, Math.ceil(last / 2), last])) paths.push(`${path}&page=${page}`);
  }
  const questions = paths.map((path) => ({ key, path: unkept(path) }));
  const times = await medianTimes(port, questions, TIMES / 10);
  const slowest = times.indexOf(Math.max(...times));
  const { meta } = await ask<{ meta: { total: number } }>('/ops/tickets');
  const { summary } = await ask<{ summary: { total: number } }>('/health/fleet');
  const [tickets, fleet] = [meta.total, summary.total].map((total) => total.toLocaleString('en-US'));
  return [
    under(
      `tickets, ${tickets}: each of ${paths.length} pages of all filters, median`,
      10,
      times[slowest] ?? 0,
      'ms',
      ` (\`${paths[slowest]?.split('?')[1]}\`)`,
    ),
    under(`ticket statistics of ${tickets}, median`, 10, await median(() => '/ops/stats', TIMES), 'ms'),
    under(
      `fleet of ${fleet}, unprepared, median`,
      60,
      await median(unkept('/health/fleet'), TIMES / 5),
      'ms',
    ),
    under(`fleet of ${fleet}, kept, median`, 10, await median(() => '/health/fleet', TIMES), 'ms'),
  ];
}

/** Every combination of the filters. */
function ticketFilters(connectionId: number, days: number): string[] {
  const choices = [
    ['', '&status=open', '&status=resolved'],
    ['', '&severity=critical', '&severity=warning', '&severity=info'],
    ['', `&connection_id=${connectionId}`],
    ['', `&${middleThird(days)}`],
  ];
  return choices.reduce((made, each) => made.flatMap((before) => each.map((one) => before + one)), ['']);
}

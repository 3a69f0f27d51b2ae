/** A complete HTTP/1.1 message. */
export function message(key: string, path: string): string {
  return `GET /api/v1${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\nUser-Agent: python-requests/2.32.3\r\n\r\n`;
}

/** The next request of a connection. */
export type NextRequest = (connection: number) => string;

/** Sends the messages in turn, whatever the connection. */
export function inTurn(requests: readonly string[]): NextRequest {
  let next = 0;
  return () => requests[next++ % requests.length] ?? '';
}

/** A message for each path with each key. */
export function messages(keys: readonly string[], paths: readonly string[]): string[] {
  return keys.flatMap((key) => paths.map((path) => message(key, path)));
}

/** Endpoint 1, as many rows as there are connections: 20. */
export const ENDPOINT_ONE = '/health/connections?per_page=20';

/** What a dashboard polls: all eight endpoints. */
export function dashboardPaths(connectionId: number): string[] {
  return [
    ENDPOINT_ONE,
    `/health/connections/${connectionId}/checks/latest`,
    '/health/fleet',
    '/ops/tickets',
    '/ops/stats',
    '/activity',
    '/team/members',
    '/team/roles',
  ];
}

/** The middle third of the last `days` days, as parameters. */
export function middleThird(days: number): string {
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10);
  return `from=${day((2 * days) / 3)}&to=${day(days / 3)}`;
}

/** A query of the log: its label and its parameters without the page. */
interface ActivityList {
  name: string;
  filter: string;
}

/** The queries of the log for a history of `days` days. */
export function activityLists(days: number): ActivityList[] {
  return [
    { name: 'desc', filter: 'order=desc' },
    { name: 'asc', filter: 'order=asc' },
    { name: 'health checks', filter: 'action_type=health_check_completed' },
    { name: 'requests', filter: 'action_type=api_request' },
    { name: 'dates', filter: middleThird(days) },
    { name: 'health checks, dates', filter: `action_type=health_check_completed&${middleThird(days)}` },
  ];
}

/** Pages of 100: the first and the last page of each query of the log. */
export async function activityPages(
  ask: (path: string) => Promise<{ meta: { total: number } }>,
  days: number,
): Promise<{ name: string; path: string }[]> {
  const pages = [];
  for (const { name, filter } of activityLists(days)) {
    const path = `/activity?per_page=100&${filter}`;
    const { meta } = await ask(path);
    const last = Math.max(1, Math.ceil(meta.total / 100));
    pages.push({ name: `${name}, first page`, path: `${path}&page=1` });
    pages.push({ name: `${name}, last page`, path: `${path}&page=${last}` });
  }
  return pages;
}

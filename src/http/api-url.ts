import querystring from 'fast-querystring';

/** A query as parsed: a parameter that occurs several times is a list. */
export type ParsedQuery = Readonly<Record<string, string | string[]>>;

/** The path to which assistants send messages of the Model Context Protocol. */
export const MCP_PATH = '/mcp';

/** The URL of a request of the API, parsed: below `/api/`, or {@link MCP_PATH}. */
export interface ApiUrl {
  /** The routed URL (`routedUrl`) without the base path. */
  readonly text: string;
  /** The path of the endpoint, such as `/api/v1/health/connections/:id/checks/latest`; `unknown` if there is none. */
  readonly route: string;
  /** `:id` of the path, decoded; empty if the route has none. */
  readonly id: string;
  readonly query: ParsedQuery;
}

/** Returns a parser of routed URLs for these routes. A route may contain `:id` once. */
export function apiUrls(routes: Iterable<string>): (routed: string) => ApiUrl {
  const plain = new Set<string>();
  const withId: { route: string; before: string; after: string }[] = [];
  for (const route of routes) {
    const [before = '', after] = route.split(':id');
    if (after === undefined) plain.add(route);
    else withId.push({ route, before, after });
  }

  function routeOf(path: string): { route: string; id: string } {
    if (plain.has(path)) return { route: path, id: '' };
    for (const { route, before, after } of withId) {
      const id = path.slice(before.length, path.length - after.length);
      const fits = id !== '' && !id.includes('/') && path === before + id + after;
      if (fits) return { route, id: decodeURIComponent(id) };
    }
    return { route: 'unknown', id: '' };
  }

  return (text) => {
    const end = text.search(/[?#]/);
    return {
      text,
      ...routeOf(end === -1 ? text : text.slice(0, end)),
      query: querystring.parse(end === -1 ? '' : text.slice(end + 1)) as ParsedQuery,
    };
  };
}

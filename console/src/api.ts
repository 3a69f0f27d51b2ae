import { BASE_PATH } from './base-path.ts';

/** An error answer of the service; `code` and `message` come from its envelope. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** For a report to the operator; null when a proxy answered. */
  readonly requestId: string | null;
  /** Seconds to wait after a 429. */
  readonly retryAfter: number | null;
  /** The field that a 400 is about. */
  readonly parameter: string | null;
  /** The choices of `choose_account`. */
  readonly accounts: readonly { id: number; name: string }[];

  constructor(response: Response, text: string) {
    const { code, message, parameter, accounts } = envelope(text);
    super(message ?? `The service answered ${response.status}.`);
    this.status = response.status;
    this.code = code ?? 'internal_error';
    this.parameter = parameter ?? null;
    this.accounts = accounts ?? [];
    this.requestId = response.headers.get('x-request-id');
    this.retryAfter = Number(response.headers.get('retry-after')) || null;
  }
}

/** No answer came: the network or the service is down. */
export class OfflineError extends Error {
  constructor(cause: unknown) {
    super('The service is not reachable.', { cause });
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The URL of a console API route. Parameters that are null, undefined or empty are left out. */
export function apiUrl(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  return `${BASE_PATH}/console/api${path}${search && `?${search}`}`;
}

/**
 * Reads a route of the console's API, such as `/fleet`.
 * @throws ApiError for an error answer, OfflineError without an answer.
 */
export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return request<T>('GET', apiUrl(path, query), undefined, signal);
}

/** What a query needs to read a route. Its key begins with the parts of the path, so that all below one are renewed together. */
export function read<T>(path: string, query?: Query) {
  return {
    queryKey: [...path.split('/').slice(1), ...(query ? [query] : [])] as readonly unknown[],
    queryFn: ({ signal }: { signal: AbortSignal }): Promise<T> => get<T>(path, query, signal),
  };
}

/** Where the next page of a list begins; null at its end. */
type Mark = string | number | null;

/** The same for a list that is read page by page; each answer says where the next one begins. */
export function readPages<T extends { next: Mark }>(path: string, query?: Query) {
  return {
    queryKey: [...read(path, query).queryKey, 'pages'],
    queryFn: ({ signal, pageParam }: { signal: AbortSignal; pageParam: Mark }): Promise<T> =>
      get<T>(path, { ...query, before: pageParam }, signal),
    initialPageParam: null as Mark,
    getNextPageParam: ({ next }: T): Mark => next,
  };
}

let prove: (() => Promise<boolean>) | null = null;

/**
 * Sets the function that asks the person to confirm their identity before {@link send} retries a change of credentials;
 * false = not confirmed. Returns a function that unsets it.
 */
export function setReauthenticator(ask: () => Promise<boolean>): () => void {
  prove = ask;
  return () => {
    if (prove === ask) prove = null;
  };
}

/**
 * Sends a change to a route of the console's API. Returns undefined for a 204.
 * @throws ApiError for an error answer, OfflineError without an answer.
 */
export async function send<T = void>(
  method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
  path: string,
  body: unknown = {},
): Promise<T> {
  const change = () => request<T>(method, apiUrl(path), JSON.stringify(body), undefined);
  return change().catch(async (error: unknown) => {
    const isAsked = error instanceof ApiError && error.code === 'proof_needed' && prove !== null;
    if (!(isAsked && (await prove?.()))) throw error;
    return change();
  });
}

async function request<T>(method: string, url: string, body?: string, signal?: AbortSignal): Promise<T> {
  const response = await fetch(url, {
    method,
    ...(body === undefined ? {} : { body, headers: { 'content-type': 'application/json' } }),
    ...(signal ? { signal } : {}),
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw new OfflineError(cause);
  });
  const text = await response.text().catch((cause: unknown) => {
    throw new OfflineError(cause);
  });
  if (!response.ok) throw new ApiError(response, text);
  return (text === '' ? undefined : JSON.parse(text)) as T;
}

interface Envelope {
  code?: string;
  message?: string;
  parameter?: string;
  accounts?: { id: number; name: string }[];
}

/** An answer of a proxy is not JSON, or has another shape. */
function envelope(text: string): Envelope {
  try {
    const { error } = JSON.parse(text) as { error?: Envelope };
    return error ?? {};
  } catch {
    return {};
  }
}

/** The service's error message for one form field; null when the error is about another field or there is none. */
export function fieldError(error: unknown, field: string): string | null {
  return error instanceof ApiError && error.parameter === field ? error.message : null;
}

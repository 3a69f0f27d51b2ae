import { BASE_PATH } from './base-path.ts';

/** An answer of the service that is no success; `code` and `message` are those of its envelope. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  /** What to name to whoever runs the service; null where something before it answered. */
  readonly requestId: string | null;
  /** Seconds, of 429. */
  readonly retryAfter: number | null;
  /** The field that a 400 is about. */
  readonly parameter: string | null;
  /** What there is to choose from, of `choose_account`. */
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

/** No answer came: the network or the service is gone. */
export class OfflineError extends Error {
  constructor(cause: unknown) {
    super('The service is not reachable.', { cause });
  }
}

export type Query = Record<string, string | number | boolean | null | undefined>;

/** The address of a route of the console's API; parameters that are null, undefined or empty are left out. */
export function apiUrl(path: string, query: Query = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === null || value === undefined || value === '' ? [] : [[name, String(value)]],
  );
  const search = new URLSearchParams(given).toString();
  return `${BASE_PATH}/console/api${path}${search && `?${search}`}`;
}

/**
 * Reads a route of the console's API, such as `/fleet`.
 * @throws ApiError when the service refuses, OfflineError when it does not answer.
 */
export async function get<T>(path: string, query?: Query, signal?: AbortSignal): Promise<T> {
  return request<T>('GET', apiUrl(path, query), undefined, signal);
}

let prove: (() => Promise<boolean>) | null = null;

/**
 * Sets who asks the person to prove again who they are, before {@link send} tries a change of credentials once more; false = they
 * did not. Gives what takes it back.
 */
export function setReauthenticator(ask: () => Promise<boolean>): () => void {
  prove = ask;
  return () => {
    if (prove === ask) prove = null;
  };
}

/**
 * Changes something by a route of the console's API. A 204 gives undefined.
 * @throws ApiError when the service refuses, OfflineError when it does not answer.
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

/** What a proxy in between says is no JSON, or not the envelope. */
function envelope(text: string): Envelope {
  try {
    const { error } = JSON.parse(text) as { error?: Envelope };
    return error ?? {};
  } catch {
    return {};
  }
}

/** What the service says is wrong with one field of a form; null when it is about another, or nothing. */
export function fieldError(error: unknown, field: string): string | null {
  return error instanceof ApiError && error.parameter === field ? error.message : null;
}

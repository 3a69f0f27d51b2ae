/** A failed request, as its caller sees it. */
export interface FailedRead {
  readonly code: string;
  readonly message: string;
  readonly parameter: string | null;
  readonly requestId: string | null;
  /** Null if there was no answer. */
  readonly status: number | null;
  /** In seconds. */
  readonly retryAfter: number | null;
}

/** Formats the code, the message, advice, and the request id if there was an answer. */
export function failureText(failed: FailedRead): string {
  const { code, message, parameter, requestId } = failed;
  const lines = [`${code}: ${message}`, advice(failed)];
  if (parameter !== null) lines.push(`Parameter: ${parameter}`);
  if (requestId !== null) lines.push(`Request id: ${requestId}`);
  return lines.filter((line) => line !== '').join('\n');
}

function advice({ code, status, retryAfter }: FailedRead): string {
  if (retryAfter !== null) {
    const at = new Date(Date.now() + retryAfter * 1_000).toISOString();
    return `Call again in ${retryAfter} s, at ${at}. Until then every tool returns this error, because all tools share one key.`;
  }
  if (status === 401) {
    return 'Calling again does not help: tell the user to set DBVITALS_API_KEY to a live key and to restart this server.';
  }
  if (status === 403)
    return 'Calling again does not help: use a tool that the plan includes, or tell the user.';
  if (code === 'unreachable' || code === 'cut_short' || (status ?? 0) >= 500)
    return 'Call again in a few seconds; if it still fails, tell the user.';
  if (code === 'not_dbvitals' || code === 'redirected') {
    return 'Calling again does not help: tell the user to correct --url of this server.';
  }
  return '';
}

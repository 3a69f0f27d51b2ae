import { ForbiddenAddress } from '../../platform/network/address.ts';
import { certificateProblem } from '../../platform/network/certificate-problem.ts';
import { errorCode } from '../../platform/network/error-code.ts';
import { cleanText } from '../../platform/text/clean-text.ts';
import { hostOf } from './check-url.ts';
import { connectProblem } from './connect-problem.ts';
import type { Route } from './pinned-routes.ts';
import { EndlessAnswer, LIMITS } from './send-limits.ts';

/** Why no HTTP answer came, in one sentence. `route` is how the host was reached; null = it was not resolved. */
export async function httpFailure(error: unknown, url: URL, route: Route | null): Promise<string> {
  const host = cleanText(url.host, 200);
  if (error instanceof ForbiddenAddress) return `${cleanText(error.message, 400)}.`;
  if (error instanceof EndlessAnswer) return `${host} sent interim answers (1xx) without an end.`;
  const code = errorCode(error);
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
  const place = { name: host, host: hostOf(url), port, addresses: route?.addresses ?? [] };
  return (
    connectProblem(error, host) ??
    (await certificateProblem(error, place)) ??
    answerProblem(code, host) ??
    `The request to ${host} failed${code === '' ? '' : ` (${cleanText(code, 60)})`}.`
  );
}

function answerProblem(code: string, host: string): string | null {
  if (code === 'HPE_HEADER_OVERFLOW')
    return `The headers of the answer of ${host} are larger than ${LIMITS.headerBytes / 1_024} kB.`;
  if (code.startsWith('HPE_')) return `${host} did not answer in HTTP (${code}).`;
  if (code === 'ERR_INVALID_CHAR' || code === 'ERR_INVALID_HTTP_TOKEN') {
    return 'A header of the request has a character that HTTP does not allow.';
  }
  return null;
}

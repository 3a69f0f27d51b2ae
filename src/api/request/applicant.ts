import type { ApiRequest } from '../../http/api-request.ts';
import { finalStatus } from '../../http/respond.ts';
import type { Identity } from '../gate/identify.ts';
import type { KeyAccess } from '../gate/key-access.ts';
import type { Applicant, LogTemplate } from '../gate/key-batch.ts';
import type { Prepared } from '../prepare-answer.ts';
import { makeTemplate } from './request-log-template.ts';
import type { RequestState } from './request-state.ts';

/** What the log will record about a request. */
export function toTemplate(request: ApiRequest, { answer, entry }: Prepared): LogTemplate {
  if (entry) return makeTemplate(entry.request, entry.answer, entry.answer.status);
  return makeTemplate(request, answer, finalStatus(request, answer));
}

/** `plan` and `access` are those that the answer was prepared for: others may have changed the key's hint since. */
export function toApplicant(
  state: RequestState,
  { accountId, apiKeyId }: Identity,
  prepared: Pick<Applicant, 'plan' | 'generation' | 'template'> & { access: KeyAccess; spent: boolean },
): Applicant {
  const { plan, access, generation, spent, template } = prepared;
  return {
    accountId,
    apiKeyId,
    plan,
    accessVersion: access.version,
    generation,
    prepared: !spent,
    template,
    requestId: state.request.id,
    state,
  };
}

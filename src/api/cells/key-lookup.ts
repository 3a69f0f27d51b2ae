import type { ApiRequest } from '../../http/api-request.ts';
import { plainAddress } from '../../http/edge/edge.ts';
import * as errors from '../../http/errors.ts';
import type { DeadKey, Identity } from '../gate/identify.ts';
import { allowsAddress } from '../gate/key-access.ts';
import type { RequestState } from '../request/request-state.ts';
import type { Answerer } from '../send-answer.ts';
import type { ApiCell } from './api-cell.ts';
import type { KeyRouter } from './key-router.ts';

/** Finds the key of a request, and answers the request if the key is refused. */
export function keyLookup(router: KeyRouter<ApiCell>, { refuse }: Pick<Answerer, 'refuse'>) {
  /** Refuses a key that exists: the same answer as for an unknown one, plus an entry in its account's log. */
  function refuseKey(request: ApiRequest, key: Identity | DeadKey, byAddress: boolean): Promise<void> {
    router.cellOf(key).refusedKeys.note({ ...key, byAddress }, plainAddress(request.ip));
    return refuse(request, errors.invalidApiKey);
  }

  function isAllowed({ access }: Identity, request: ApiRequest): boolean {
    return access.networks === null || allowsAddress(access, plainAddress(request.ip));
  }

  function identified(state: RequestState, key: Identity | DeadKey | null, known: boolean): void {
    state.keyId = key?.apiKeyId;
    state.step?.('identify', { known, key_id: key?.apiKeyId, account_id: key?.accountId });
  }

  /** Asks the store for the key. Answers the request and returns null if the key is refused: a hint alone refuses nobody. */
  async function lookUp(request: ApiRequest, state: RequestState, token: string): Promise<Identity | null> {
    const found = await router.find(token, state);
    identified(state, found, false);
    if (state.abandoned) return null;
    if (found && !('dead' in found) && isAllowed(found, request)) return found;
    if (found) await refuseKey(request, found, !('dead' in found));
    else await refuse(request, errors.invalidApiKey);
    return null;
  }

  /** {@link lookUp} after a cell failed to prepare an answer. Throws `error` if the account still lives there. */
  async function follow(
    request: ApiRequest,
    state: RequestState,
    token: string,
    { cellId }: Identity,
    error: unknown,
  ): Promise<Identity | null> {
    if (!router.mayHaveMoved(token)) throw error;
    if (state.abandoned) throw error;
    const found = await lookUp(request, state, token);
    if (found?.cellId === cellId) throw error;
    return found;
  }

  /** Returns the account and the key of a request. Null = the key is refused, and the request is answered. */
  async function identify(request: ApiRequest, state: RequestState, token: string): Promise<Identity | null> {
    const known = router.known(token);
    if (!known || !isAllowed(known, request)) return lookUp(request, state, token);
    identified(state, known, true);
    return known;
  }

  return { identify, lookUp, follow, refuseKey };
}

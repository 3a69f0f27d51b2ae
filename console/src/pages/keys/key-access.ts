import type { KeyChange } from '../../../../src/console-api/keys/change-keys.ts';
import type { EndpointGroup } from '../../../../src/vocabulary/plans.ts';
import { GROUP_NAMES } from '../../parts/plan-access.tsx';
import type { ApiKey } from './api-key-lifetime.ts';

/** What a form has of a key's access. */
export interface AccessDraft {
  /** Whether the key reaches only `scopes`. */
  isLimited: boolean;
  scopes: readonly EndpointGroup[];
  /** Separated by line breaks, blanks or commas. */
  addresses: string;
}

/** A key that reaches everything, from anywhere. */
export const ANY_ACCESS: AccessDraft = { isLimited: false, scopes: ['health'], addresses: '' };

/** The draft of a key as it is. */
export function draftOf({
  scopes,
  allowed_addresses,
}: Pick<ApiKey, 'scopes' | 'allowed_addresses'>): AccessDraft {
  return {
    isLimited: scopes !== null,
    scopes: scopes ?? ANY_ACCESS.scopes,
    addresses: allowed_addresses?.join('\n') ?? '',
  };
}

/** The fields of a request. */
export function accessIn({ isLimited, scopes, addresses }: AccessDraft): Omit<KeyChange, 'version'> {
  const written = addresses.split(/[\s,]+/).filter(Boolean);
  return { scopes: isLimited ? [...scopes] : null, allowed_addresses: written.length > 0 ? written : null };
}

/** The groups that a key reaches, as text. */
export function scopesText(scopes: ApiKey['scopes']): string {
  return scopes === null ? 'All of the plan' : scopes.map((group) => GROUP_NAMES[group]).join(', ');
}

/** How a key is restricted, in a few words; null = not at all. */
export function restrictionText({ scopes, allowed_addresses: addresses }: ApiKey): string | null {
  const parts = [
    ...(scopes ? [scopesText(scopes)] : []),
    ...(addresses ? [`from ${addresses.length === 1 ? addresses[0] : `${addresses.length} addresses`}`] : []),
  ];
  return parts.length === 0 ? null : `Only ${parts.join(', ')}`;
}

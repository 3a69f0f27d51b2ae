import { permissionsOf } from '../../vocabulary/role-permissions.ts';

/** A recipient, with who asked them to confirm. */
export interface AskedRecipient {
  /** When the recipient confirmed before; null = never. */
  confirmed_at: Date | null;
  /** The member who asked, null = the operator; without roles = no active member any more. */
  asked_by: number | null;
  asker_roles: string[] | null;
}

/**
 * Whether the member who asked a recipient to confirm could do so today: it needs the permission to change destinations. A
 * recipient who confirmed before needs nobody's request.
 */
export function isStillAsked({ confirmed_at, asked_by, asker_roles }: AskedRecipient): boolean {
  if (confirmed_at !== null || asked_by === null) return true;
  return permissionsOf(asker_roles ?? []).has('keys:write');
}

import { ACCOUNT_KINDS } from './account-kinds.ts';
import type { ActionKind, KindProperties } from './action-kind.ts';
import { CONNECTION_KINDS } from './connection-kinds.ts';
import { KEY_KINDS } from './key-kinds.ts';
import { MEMBER_KINDS } from './member-kinds.ts';
import { NOTIFICATION_KINDS } from './notification-kinds.ts';
import { SIGN_IN_KINDS } from './sign-in-kinds.ts';
import { TICKET_KINDS } from './ticket-kinds.ts';

/**
 * Every action type of the log, and all that is known of its entries. The reference, the mappings to OCSF and ECS, and who did an
 * entry are made from it; an entry of a type without a row does not compile, and neither does one without its properties.
 */
export const CATALOGUE = {
  ...KEY_KINDS,
  ...SIGN_IN_KINDS,
  ...MEMBER_KINDS,
  ...ACCOUNT_KINDS,
  ...CONNECTION_KINDS,
  ...TICKET_KINDS,
  ...NOTIFICATION_KINDS,
};

/** An action type. Readers must expect new ones. */
export type ActionType = keyof typeof CATALOGUE;

/** The action types of the log, in alphabetical order. */
export const ACTION_TYPES = (Object.keys(CATALOGUE) as ActionType[]).toSorted();

/** The types of entries that changes record: all but API requests, which the gate writes. */
export type RecordedType = Exclude<ActionType, 'api_request'>;

/** The properties of an entry as it is recorded. */
export type EntryProperties<Type extends ActionType> = KindProperties<(typeof CATALOGUE)[Type]['properties']>;

/** The row of an action type; null = a type of a later version. */
export function kindOfAction(actionType: string): ActionKind | null {
  return Object.hasOwn(CATALOGUE, actionType)
    ? (CATALOGUE[actionType as ActionType] as unknown as ActionKind)
    : null;
}

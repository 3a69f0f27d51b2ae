import {
  type Static,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
} from '../../platform/schema/schema.ts';
import type { EntryObject } from '../../vocabulary/entry-objects.ts';
import { idField, optional, orNull, text } from './property.ts';

/** What kinds of action have in common, in the order of the reference. */
export const ACTION_GROUPS = {
  requests: 'API requests',
  sign_in: 'Signing in',
  members: 'Members',
  keys: 'API keys',
  account: 'The account and its log',
  connections: 'Connections',
  checks: 'Health checks',
  tickets: 'Tickets',
  alerts: 'Alerts and maintenance',
  notifications: 'Destinations and deliveries',
  views: 'Saved views',
} as const;

export type ActionGroup = keyof typeof ACTION_GROUPS;

/** What an action does to its target. The formats of SIEMs derive their classes from it. */
export type Activity =
  | 'create'
  | 'read'
  | 'update'
  | 'delete'
  | 'export'
  | 'other'
  | 'logon'
  | 'logoff'
  | 'add_user'
  | 'change_user'
  | 'delete_user'
  | 'change_password'
  | 'add_factor'
  | 'remove_factor';

/** Who did it, unless the entry names a member, or says that it was the command line or nobody known. */
type UsualActor = 'api_key' | 'member' | 'service' | 'command_line';

/** All that is known of the entries of an action type. */
export interface ActionKind<Fields extends TProperties = TProperties> {
  /** In one sentence. */
  meaning: string;
  group: ActionGroup;
  /** How much attention it deserves. `status`: low for a refused request, medium for one that failed. */
  severity: 'info' | 'low' | 'medium' | 'status';
  /** Whether what was tried succeeded. `status`: by the status of the answer. */
  outcome: 'success' | 'failure' | 'status';
  activity: Activity;
  actor: UsualActor;
  /** What it was done to; null = the account itself, or a request. Its id is the object's property of `ENTRY_OBJECTS`. */
  target: EntryObject | null;
  /** The property with the target's name; null = entries do not name it. */
  targetName: (keyof Fields & string) | null;
  properties: TObject<Fields>;
}

/** The properties that any entry may have besides its own: who did it, and from where. */
export const ACTOR_PROPERTIES = {
  actor: optional(text('`command line`, or `unknown` for a person who is not signed in', 'command line')),
  actor_member_id: optional(orNull(idField('the member who did it', 3))),
  actor_name: optional(orNull(text("the member's name", 'Ada'))),
  source_ip: optional(orNull(text('address of the client; null = none', '192.0.2.7'))),
  session_id: optional(orNull(idField("the member's session", 9))),
};

type ActorProperties = Partial<Static<TObject<typeof ACTOR_PROPERTIES>>>;

/** The properties of an entry of the kind, as they are recorded. */
export type KindProperties<Fields extends TSchema> = Static<Fields> & ActorProperties;

/** A row of the catalogue. What most kinds of the group share may be left out. */
export function kind<Fields extends TProperties>(
  row: Omit<ActionKind<Fields>, 'properties' | 'severity' | 'outcome' | 'targetName' | 'actor'> &
    Partial<Pick<ActionKind<Fields>, 'severity' | 'outcome' | 'targetName' | 'actor'>> & {
      properties: Fields;
    },
): ActionKind<Fields> {
  const { properties, ...rest } = row;
  return {
    severity: 'info',
    outcome: 'success',
    actor: 'command_line',
    targetName: null,
    ...rest,
    properties: Type.Object(properties),
  };
}

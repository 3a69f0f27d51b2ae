import { addKey } from '../../accounts/keys/add-key.ts';
import { changeKey } from '../../accounts/keys/change-key.ts';
import { requireRules } from '../../accounts/keys/key-rules.ts';
import { regenerateKey } from '../../accounts/keys/regenerate-key.ts';
import { revokeKey } from '../../accounts/keys/revoke-key.ts';
import type { Change } from '../../activity/record-entry.ts';
import { KEY_PATTERN } from '../../platform/api-key.ts';
import { EditConflict, Rejection } from '../../platform/rejection.ts';
import { identifier, timestamp } from '../../platform/schema/fields.ts';
import { nullable } from '../../platform/schema/nullable.ts';
import { type Static, Type } from '../../platform/schema/schema.ts';
import { stringEnum } from '../../platform/schema/string-enum.ts';
import { ENDPOINT_GROUPS } from '../../vocabulary/plans.ts';
import { editConflict } from '../edit-conflict.ts';
import { type ConsoleRoute, consoleRoute } from '../route.ts';
import { singleLine, singleLineOrEmpty } from '../single-line.ts';

// Immediately, 1 min, 15 min, 1 h, 6 h, 24 h.
const OVERLAPS = [0, 60, 900, 3_600, 21_600, 86_400];

// A hundred years, as in the command.
const LONGEST_LIFE = 36_500 * 86_400;

const scopes = Type.Optional(
  Type.Union([Type.Null(), Type.Array(stringEnum(...ENDPOINT_GROUPS), { uniqueItems: true })], {
    description: `Set scopes to some of ${ENDPOINT_GROUPS.join(', ')}, or to null for all endpoints.`,
  }),
);
const allowed_addresses = Type.Optional(
  Type.Union([Type.Null(), Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: 100 })], {
    description: 'Set allowed_addresses to 1 to 100 addresses and networks, or to null for any address.',
  }),
);

const NewKey = Type.Object({
  name: singleLine(200, 'Enter a name of 1 to 200 characters that says what the key is for.'),
  note: Type.Optional(singleLineOrEmpty(1_000, 'Enter a note of at most 1,000 characters, on one line.')),
  expires_in: nullable(
    Type.Integer({
      minimum: 1,
      maximum: LONGEST_LIFE,
      description: 'Set expires_in to a whole number of seconds, at most 100 years, or null for never.',
    }),
  ),
  scopes,
  allowed_addresses,
});
const KeyChange = Type.Object({
  version: Type.Integer({ description: 'Send the version of the key that you read.' }),
  scopes,
  allowed_addresses,
});
const ChangedKey = Type.Object({ version: Type.Integer() });
const secret = Type.String({ description: 'the key itself: shown this once, kept nowhere' });
const IssuedKey = Type.Object({
  id: identifier('key'),
  key: secret,
  expires_at: nullable(timestamp('end of life')),
});
const Regeneration = Type.Object({
  overlap: Type.Integer({
    enum: OVERLAPS,
    description: `Set overlap to one of ${OVERLAPS.join(', ')} seconds.`,
  }),
});
const RegeneratedKey = Type.Object({
  id: identifier('the successor'),
  key: secret,
  expires_at: nullable(timestamp('end of life of the successor')),
  old_revoked_at: timestamp('from then on the old key is not accepted; never after its own end'),
});
const Revocation = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 200, description: "Enter the key's name as listed." })),
});
const RevokedKey = Type.Object({ revoked_at: timestamp('from then on the key is not accepted') });

/** POST /keys */
export type NewKey = Static<typeof NewKey>;
/** The answer of POST /keys. */
export type IssuedKey = Static<typeof IssuedKey>;
/** PATCH /keys/:id: 409 when the version has changed. */
export type KeyChange = Static<typeof KeyChange>;
/** POST /keys/:id/regenerate */
export type Regeneration = Static<typeof Regeneration>;
/** The answer of POST /keys/:id/regenerate. */
export type RegeneratedKey = Static<typeof RegeneratedKey>;
/** POST /keys/:id/revoke: for a key used within the last hour, the name is required (409 without it). */
export type Revocation = Static<typeof Revocation>;
/** The answer of POST /keys/:id/revoke. */
export type RevokedKey = Static<typeof RevokedKey>;

const create = consoleRoute({
  method: 'POST',
  path: '/keys',
  recent: true,
  permission: 'keys:write',
  body: NewKey,
  response: IssuedKey,
  status: 201,
  async handler({ body, actor, change }) {
    const { name, note = '', expires_in: lifetime } = body;
    for (const [parameter, text] of Object.entries({ name, note })) refuseSecret(parameter, text);
    const wanted = {
      name: name.trim(),
      note: note.trim(),
      lifetime,
      createdBy: actor.memberId,
      ...rulesOf(body),
    };
    const { id, key, expires_at } = await change((made) => addKey(made, wanted));
    return { id, key, expires_at: expires_at?.toISOString() ?? null };
  },
});

function rulesOf({ scopes, allowed_addresses: allowedAddresses }: Omit<KeyChange, 'version'>) {
  return requireRules({
    ...(scopes !== undefined && { scopes }),
    ...(allowedAddresses !== undefined && { allowedAddresses }),
  });
}

const alter = consoleRoute({
  method: 'PATCH',
  path: '/keys/:id',
  recent: true,
  permission: 'keys:write',
  body: KeyChange,
  response: ChangedKey,
  async handler({ actor: { accountId }, id, body, change, read }) {
    const changes = { version: body.version, ...rulesOf(body) };
    try {
      const { version } = await change((made) => changeKey(made, id, changes));
      return { version };
    } catch (error) {
      if (!(error instanceof EditConflict)) throw error;
      const of = { property: 'api_key_id', id };
      throw await read((run) => editConflict(run, accountId, 'api_key_changed', of));
    }
  },
});

// Names and notes are shown and logged.
function refuseSecret(parameter: string, text: string): void {
  if (!KEY_PATTERN.test(text)) return;
  throw new Rejection('invalid_parameter', 'This text contains an API key. Remove the key from it.', {
    parameter,
  });
}

const regenerate = consoleRoute({
  method: 'POST',
  path: '/keys/:id/regenerate',
  recent: true,
  permission: 'keys:write',
  body: Regeneration,
  response: RegeneratedKey,
  status: 201,
  async handler({ id, body: { overlap }, actor, change }) {
    const how = { overlap, createdBy: actor.memberId };
    const { successor, replaced } = await change((made) => regenerateKey(made, id, how));
    const { key, expires_at } = successor;
    const end = replaced.revoked_at ?? new Date();
    return {
      id: successor.id,
      key,
      expires_at: expires_at?.toISOString() ?? null,
      old_revoked_at: end.toISOString(),
    };
  },
});

const revoke = consoleRoute({
  method: 'POST',
  path: '/keys/:id/revoke',
  permission: 'keys:write',
  body: Revocation,
  response: RevokedKey,
  async handler({ id, body: { name }, change }) {
    const { revoked_at } = await change(async (made) => {
      await requireName(made, id, name);
      return revokeKey(made, id);
    });
    return { revoked_at: (revoked_at ?? new Date()).toISOString() };
  },
});

const inUse = `
  select k.name
    from api_key k
    join key_window w on w.account_id = k.account_id and w.api_key_id = k.api_key_id
   where k.account_id = $1 and k.api_key_id = $2 and k.valid_until > clock_timestamp()
     and w.last_used_at > clock_timestamp() - interval '1 hour'`;

/** Throws when the key was used within the last hour and its name is missing: a client will stop working. */
async function requireName(
  { client, accountId }: Change,
  id: number,
  given: string | undefined,
): Promise<void> {
  const [used] = (await client.query<{ name: string }>(inUse, [accountId, id])).rows;
  if (!used) return;
  if (given === undefined) {
    throw new Rejection('conflict', 'This key was used within the last hour. Enter its name to revoke it.');
  }
  if (given.trim() !== used.name) {
    throw new Rejection('invalid_parameter', "Enter the key's name as listed.", {
      parameter: 'name',
    });
  }
}

/** The routes that change API keys. */
export const keyChangeRoutes: ConsoleRoute[] = [create, alter, regenerate, revoke];

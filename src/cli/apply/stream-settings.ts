import type { DestinationRow } from '../../notifications/destinations/destination-row.ts';
import type { StreamInput } from '../../notifications/log-streams/stream-input.ts';
import type { WrittenDestination } from './destination-schema.ts';

/** What a file sets of a stream. */
export function toStreamSettings({ format, actionTypes, excludedTypes, actors }: StreamInput = {}) {
  return {
    format: format ?? 'native',
    action_types: actionTypes ?? null,
    excluded_types: excludedTypes ?? [],
    actors: actors ?? null,
  };
}

/** The same of a stored one. */
export function storedStream({ stream }: Pick<DestinationRow, 'stream'>) {
  const { format, action_types, excluded_types, actors } = stream ?? {};
  return stream === null ? {} : { stream: { format, action_types, excluded_types, actors } };
}

/** A file says what a stream sends, not from where: that is of the time when it is added. */
export function toStreamInput({
  format,
  action_types,
  excluded_types,
  actors,
}: NonNullable<WrittenDestination['stream']>): StreamInput {
  return {
    format: format ?? 'native',
    actionTypes: action_types ?? null,
    excludedTypes: excluded_types ?? [],
    actors: actors ?? null,
  };
}

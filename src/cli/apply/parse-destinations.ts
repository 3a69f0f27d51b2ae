import { secretsOf } from '../../notifications/destinations/channel-address.ts';
import {
  type NewDestination,
  requireChannelSettings,
  requireFields,
  requireFilters,
} from '../../notifications/destinations/destination-input.ts';
import { requireQuietHours } from '../../notifications/maintenance/quiet-hours.ts';
import { textOf } from '../arguments.ts';
import { requireUrlOption } from '../notifications/destination-options.ts';
import { noteRepeated, type ReadFile } from './configuration-file.ts';
import type { WrittenDestination } from './destination-schema.ts';
import { lineAt, type Surroundings } from './resolve-secrets.ts';
import type { Path } from './schema-problems.ts';

/** The desired state of a destination. */
export interface DesiredDestination extends NewDestination {
  path: Path;
}

/** Parses the destinations of an account, and notes their problems. */
export function destinationsIn(
  file: ReadFile,
  path: Path,
  written: readonly WrittenDestination[],
  surroundings: Surroundings,
): DesiredDestination[] {
  noteRepeated(file, path, written, 'name', ({ name }) => name.trim());
  return written.flatMap(
    (one, at) =>
      file.attempt([...path, at], () => ({
        path: [...path, at],
        ...destinationIn(one, surroundings),
      })) ?? [],
  );
}

function destinationIn(written: WrittenDestination, surroundings: Surroundings): NewDestination {
  const { channel, url, routing_key, authorization, signature, method, recipients, kinds } = written;
  if (typeof url === 'string') requireUrlOption(channel, 'as {env: NAME} or {file: PATH}');
  const wanted: NewDestination = {
    ...{ name: textOf('The name')(written.name), channel },
    ...(url !== undefined && { url: typeof url === 'string' ? url : lineAt(url, surroundings) }),
    ...(routing_key && { routingKey: lineAt(routing_key, surroundings) }),
    ...(authorization && { authorization: lineAt(authorization, surroundings) }),
    ...(recipients && { recipients }),
    ...(signature && { signature }),
    ...(method && { method }),
    ...(kinds && { kinds }),
    minimumSeverity: written.minimum_severity ?? null,
    connectionIds: null,
    connectionNames: written.connections ?? null,
    requestsPerSecond: written.requests_per_second ?? 50,
    quietHours: written.quiet_hours ? requireQuietHours(written.quiet_hours) : null,
  };
  requireFields(channel, wanted, true);
  requireChannelSettings(wanted);
  requireFilters(channel, wanted);
  const { allowPrivateDestinations: allowPrivate } = surroundings;
  return { ...wanted, ...secretsOf(channel, wanted, { allowPrivate }) };
}

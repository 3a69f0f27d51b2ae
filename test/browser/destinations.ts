import type { ConsoleAccount, Person } from './console-service.ts';

/** A destination as the console's API adds it. */
interface Added {
  destination: { id: number; name: string };
  signing_secret: string | null;
}

/** Adds a destination without the console's pages: by default for Slack. */
export function addDestination(
  service: ConsoleAccount,
  owner: Person,
  given: Record<string, unknown> & { url: string },
): Promise<Added> {
  return service.ask<Added>(owner, 'POST', '/destinations', { name: 'Slack', channel: 'slack', ...given });
}

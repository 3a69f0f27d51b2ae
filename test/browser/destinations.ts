import type { ConsoleAccount, Person } from './console-service.ts';

/** A destination as the console's API adds it. */
interface Added {
  destination: { id: number; name: string };
  signing_secret: string | null;
}

/** An owner of a new account with this plan, which has no destinations. */
export async function ownerOfNew(service: ConsoleAccount, plan: string): Promise<Person> {
  const named = ['--name', 'New company', '--plan', plan];
  const { id } = await service.command<{ id: number }>('account', 'create', ...named);
  return service.owner(id);
}

/** Adds a destination without the console's pages: by default for Slack. */
export function addDestination(
  service: ConsoleAccount,
  owner: Person,
  given: Record<string, unknown> & { url: string },
): Promise<Added> {
  return service.ask<Added>(owner, 'POST', '/destinations', { name: 'Slack', channel: 'slack', ...given });
}

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import type { TicketPage } from '../../../../src/console-api/tickets/ticket-list.ts';
import { PAGE_PATHS } from '../../../../src/vocabulary/page-paths.ts';
import { read } from '../../api.ts';
import { BASE_PATH } from '../../base-path.ts';
import { foundConnectionsQuery } from '../../parts/found-connections.ts';
import { usePaused } from '../../parts/use-paused.ts';
import { setTheme } from '../../theme.ts';
import { setTimeZone } from '../../time-zone.ts';
import { PLACES } from '../places.ts';
import { useCan } from '../profile.ts';
import { useSignOut } from '../sign-out.ts';
import { type Command, type CommandGroup, matching } from './command-groups.ts';

/** The most connections, and tickets, to offer. */
const OFFERED = 8;
/** The wait after the last keystroke. */
const PAUSE_MS = 200;

/** What the palette offers for a text, and whether connections and tickets are still searched. */
export function useCommandGroups(
  text: string,
  onShortcuts: () => void,
): { groups: CommandGroup[]; isSearching: boolean } {
  const q = text.trim();
  const paused = usePaused(q, PAUSE_MS);
  const connections = useConnections(paused);
  const tickets = useTickets(paused);
  const own = matching([usePages(), useActions(onShortcuts)], text);
  const found = q === '' ? [] : [connections.group, tickets.group];
  const isSearching = q !== '' && (q !== paused || connections.isFetching || tickets.isFetching);
  return {
    // Results of the previous text stay until those of this one arrive. Enter must not open one that does not match.
    groups: [...own, ...matching(found, isSearching ? text : '')],
    isSearching,
  };
}

function usePages(): CommandGroup {
  const can = useCan();
  const navigate = useNavigate();
  const commands = PLACES.filter(({ permission }) => can(permission)).map(
    ({ to, label, icon }): Command => ({ id: to, label, icon, run: () => void navigate({ to }) }),
  );
  const sessions = PAGE_PATHS.sessions;
  const own: Command = {
    id: sessions,
    label: 'Sign-in and sessions',
    icon: 'device',
    run: () => void navigate({ to: sessions }),
  };
  return { label: 'Pages', commands: [...commands, own] };
}

function useActions(onShortcuts: () => void): CommandGroup {
  const can = useCan();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const connect: Command = {
    id: 'connect',
    label: 'Add connection',
    icon: 'plus',
    run: () => void navigate({ to: PAGE_PATHS.addConnection }),
  };
  const createKey: Command = {
    id: 'create-key',
    label: 'Create API key',
    icon: 'key',
    run: () => void navigate({ to: PAGE_PATHS.keys, search: { create: '1' } }),
  };
  const commands: Command[] = [
    ...(can('connections:write') ? [connect] : []),
    ...(can('keys:write') ? [createKey] : []),
    { id: 'light', label: 'Use light theme', icon: 'sun', run: () => setTheme('light') },
    { id: 'dark', label: 'Use dark theme', icon: 'moon', run: () => setTheme('dark') },
    { id: 'system', label: 'Use system theme', icon: 'device', run: () => setTheme('system') },
    { id: 'local', label: 'Show local times', icon: 'clock', run: () => setTimeZone('local') },
    { id: 'utc', label: 'Show times in UTC', icon: 'clock', run: () => setTimeZone('utc') },
    { id: 'shortcuts', label: 'Show keyboard shortcuts', icon: 'keyboard', run: onShortcuts },
    {
      id: 'docs',
      label: 'Open API reference',
      icon: 'outside',
      run: () => location.assign(`${BASE_PATH}/docs`),
    },
    { id: 'out', label: 'Sign out', icon: 'out', run: () => signOut.mutate() },
  ];
  return { label: 'Actions', commands };
}

function useConnections(q: string): { group: CommandGroup; isFetching: boolean } {
  const can = useCan();
  const navigate = useNavigate();
  const { data, isFetching } = useQuery({
    ...foundConnectionsQuery(q, OFFERED),
    enabled: q !== '' && can('health:read'),
  });
  const commands = (data?.data ?? []).map(
    ({ id, name, host }): Command => ({
      id: `connection ${id}`,
      label: name,
      detail: host,
      icon: 'fleet',
      run: () => void navigate({ to: PAGE_PATHS.connection, params: { id: String(id) } }),
    }),
  );
  return { group: { label: 'Connections', commands }, isFetching };
}

function useTickets(q: string): { group: CommandGroup; isFetching: boolean } {
  const can = useCan();
  const navigate = useNavigate();
  const { data, isFetching } = useQuery({
    ...read<TicketPage>('/tickets', { list: 'all', q: q.slice(0, 200) }),
    enabled: q !== '' && can('tickets:read'),
    placeholderData: keepPreviousData,
  });
  const commands = (data?.data ?? []).slice(0, OFFERED).map(
    ({ id, title, object, connection_name, state }): Command => ({
      id: `ticket ${id}`,
      label: object === null ? title : `${title}: ${object}`,
      icon: 'tickets',
      detail: `${connection_name}, ${state}`,
      run: () => void navigate({ to: PAGE_PATHS.tickets, search: { status: 'all', ticket: String(id) } }),
    }),
  );
  return { group: { label: 'Tickets', commands }, isFetching };
}

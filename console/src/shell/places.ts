import { PAGE_PATHS } from '../../../src/vocabulary/page-paths.ts';
import type { IconName } from '../parts/icons.tsx';

/** The pages of the navigation, with the permission that each takes. */
export const PLACES = [
  { to: PAGE_PATHS.fleet, label: 'Fleet', icon: 'fleet', permission: 'health:read' },
  { to: PAGE_PATHS.tickets, label: 'Tickets', icon: 'tickets', permission: 'tickets:read' },
  { to: PAGE_PATHS.alerts, label: 'Alerts', icon: 'alerts', permission: 'health:read' },
  { to: PAGE_PATHS.notifications, label: 'Notifications', icon: 'bell', permission: 'health:read' },
  { to: PAGE_PATHS.thresholds, label: 'Thresholds', icon: 'threshold', permission: 'health:read' },
  { to: PAGE_PATHS.checks, label: 'Own checks', icon: 'check', permission: 'health:read' },
  { to: PAGE_PATHS.activity, label: 'Activity', icon: 'activity', permission: 'activity:read' },
  { to: PAGE_PATHS.keys, label: 'API keys', icon: 'key', permission: 'keys:read' },
  { to: PAGE_PATHS.collectors, label: 'Collectors', icon: 'device', permission: 'health:read' },
  { to: PAGE_PATHS.team, label: 'Team', icon: 'team', permission: 'members:read' },
  { to: PAGE_PATHS.account, label: 'Account', icon: 'account', permission: 'account:read' },
] as const satisfies readonly { to: string; label: string; icon: IconName; permission: string }[];

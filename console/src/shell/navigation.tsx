import './navigation.css';
import { Link } from '@tanstack/react-router';
import { PAGE_PATHS } from '../../../src/vocabulary/page-paths.ts';
import { Icon, type IconName } from '../parts/icons.tsx';
import { AccountMenu } from './account-menu.tsx';
import { AlertCount } from './alert-count.tsx';
import { Brand } from './brand.tsx';
import { PersonMenu } from './person-menu.tsx';
import { useCan } from './profile.ts';

const PLACES = [
  { to: PAGE_PATHS.fleet, label: 'Fleet', icon: 'fleet', permission: 'health:read' },
  { to: PAGE_PATHS.tickets, label: 'Tickets', icon: 'tickets', permission: 'tickets:read' },
  { to: PAGE_PATHS.alerts, label: 'Alerts', icon: 'alerts', permission: 'health:read' },
  { to: PAGE_PATHS.notifications, label: 'Notifications', icon: 'bell', permission: 'health:read' },
  { to: PAGE_PATHS.thresholds, label: 'Thresholds', icon: 'threshold', permission: 'health:read' },
  { to: PAGE_PATHS.activity, label: 'Activity', icon: 'activity', permission: 'activity:read' },
  { to: PAGE_PATHS.keys, label: 'API keys', icon: 'key', permission: 'keys:read' },
  { to: PAGE_PATHS.team, label: 'Team', icon: 'team', permission: 'members:read' },
  { to: PAGE_PATHS.account, label: 'Account', icon: 'account', permission: 'account:read' },
] as const satisfies readonly { to: string; label: string; icon: IconName; permission: string }[];

/** Links to the pages that the member may read, and the user menu. */
export function Navigation({ onShortcuts }: { onShortcuts: () => void }) {
  const can = useCan();
  return (
    <div className="navigation">
      <Link aria-label="dbvitals, go to fleet" className="navigation-brand" to={PAGE_PATHS.fleet}>
        <Brand />
      </Link>
      <AccountMenu />
      <nav aria-label="Pages">
        <ul>
          {PLACES.filter(({ permission }) => can(permission)).map(({ to, label, icon }) => (
            <li key={to}>
              <Link className="navigation-link" to={to}>
                <Icon name={icon} />
                {label}
                {to === PAGE_PATHS.alerts && <AlertCount />}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <PersonMenu onShortcuts={onShortcuts} />
    </div>
  );
}

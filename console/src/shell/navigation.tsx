import './navigation.css';
import { Link } from '@tanstack/react-router';
import { Icon, type IconName } from '../parts/icons.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import { useCan } from './me.ts';
import { PersonMenu } from './person-menu.tsx';

type Place = '/fleet' | '/tickets' | '/activity' | '/keys' | '/team' | '/account';

const PLACES: readonly { to: Place; label: string; icon: IconName; permission: string }[] = [
  { to: '/fleet', label: 'Fleet', icon: 'fleet', permission: 'health:read' },
  { to: '/tickets', label: 'Tickets', icon: 'tickets', permission: 'tickets:read' },
  { to: '/activity', label: 'Activity', icon: 'activity', permission: 'activity:read' },
  { to: '/keys', label: 'API keys', icon: 'key', permission: 'keys:read' },
  { to: '/team', label: 'Team', icon: 'team', permission: 'members:read' },
  { to: '/account', label: 'Account', icon: 'account', permission: 'account:read' },
];

/** The pages that the member may read, and what is about himself. */
export function Navigation({ onShortcuts }: { onShortcuts: () => void }) {
  const can = useCan();
  return (
    <div className="navigation">
      <Link aria-label="dbvitals, to the fleet" className="navigation-brand" to="/fleet">
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
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <PersonMenu onShortcuts={onShortcuts} />
    </div>
  );
}

import './navigation.css';
import { Link } from '@tanstack/react-router';
import { PAGE_PATHS } from '../../../src/vocabulary/page-paths.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icons.tsx';
import { AccountMenu } from './account-menu.tsx';
import { AlertCount } from './alert-count.tsx';
import { Brand } from './brand.tsx';
import { PersonMenu } from './person-menu.tsx';
import { PLACES } from './places.ts';
import { useCan, useProfile } from './profile.ts';

interface NavigationProps {
  onPalette: () => void;
  onShortcuts: () => void;
}

/** Links to the pages that the member may read, and the user menu. */
export function Navigation({ onPalette, onShortcuts }: NavigationProps) {
  const can = useCan();
  const { version } = useProfile();
  return (
    <div className="navigation">
      <Link
        aria-label={`dbvitals ${version}, go to fleet`}
        className="navigation-brand"
        to={PAGE_PATHS.fleet}
      >
        <Brand /> <span className="brand-version">{version}</span>
      </Link>
      <AccountMenu />
      <Button icon="search" kind="quiet" onPress={onPalette}>
        Go to anything <kbd>Ctrl K</kbd>
      </Button>
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

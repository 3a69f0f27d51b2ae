import './navigation.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { OpenCount } from '../../../src/console-api/alerts/alert-schemas.ts';
import { PAGE_PATHS } from '../../../src/vocabulary/page-paths.ts';
import { read } from '../api.ts';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icons.tsx';
import { AccountMenu } from './account-menu.tsx';
import { Brand } from './brand.tsx';
import { PersonMenu } from './person-menu.tsx';
import { PLACES } from './places.ts';
import { useCan, useProfile } from './profile.ts';

/** Links to the pages that the member may read, and the user menu. */
export function Navigation({ onPalette, onShortcuts }: { onPalette: () => void; onShortcuts: () => void }) {
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

const RENEWED_MS = 60_000;
/** The service counts no further. */
const MOST = 100;

/** How many open alerts nobody has acknowledged; nothing for none. */
function AlertCount() {
  const { data } = useQuery({
    ...read<OpenCount>('/alerts/count'),
    refetchInterval: RENEWED_MS,
    staleTime: RENEWED_MS,
  });
  if (!data || data.unacknowledged === 0) return null;
  const text = data.unacknowledged < MOST ? String(data.unacknowledged) : `${MOST - 1}+`;
  return (
    <span className="navigation-count">
      {text}
      <span className="hidden-text"> not acknowledged</span>
    </span>
  );
}

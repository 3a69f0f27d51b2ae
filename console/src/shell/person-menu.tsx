import { useNavigate } from '@tanstack/react-router';
import { Button } from 'react-aria-components/Button';
import { BASE_PATH } from '../base-path.ts';
import { Icon } from '../parts/icons.tsx';
import { type Action, ActionMenu } from '../parts/menu.tsx';
import { setTheme, type Theme, useTheme } from '../theme.ts';
import { setTimeZone, type TimeZone, useTimeZone } from '../time-zone.ts';
import { useProfile } from './profile.ts';
import { useSignOut } from './sign-out.ts';

const THEMES: readonly (readonly [Theme, string])[] = [
  ['system', 'System theme'],
  ['light', 'Light'],
  ['dark', 'Dark'],
];

const TIME_ZONES: readonly (readonly [TimeZone, string])[] = [
  ['local', 'Local time'],
  ['utc', 'UTC'],
];

/** The user menu: sessions, theme, time zone, sign-out. */
export function PersonMenu({ onShortcuts }: { onShortcuts: () => void }) {
  const { login } = useProfile();
  const theme = useTheme();
  const timeZone = useTimeZone();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const invitations: Action = {
    label: 'Invitations',
    icon: 'team',
    onAction: () => void navigate({ to: '/invitations', search: {} }),
  };
  const actions: Action[] = [
    { label: 'Sign-in and sessions', icon: 'device', onAction: () => void navigate({ to: '/sessions' }) },
    ...(login.single_sign_on ? [invitations] : []),
    ...THEMES.map(
      ([id, label], index): Action => ({
        startsGroup: index === 0,
        label,
        isChosen: id === theme,
        icon: id === 'dark' ? 'moon' : id === 'light' ? 'sun' : 'device',
        onAction: () => setTheme(id),
      }),
    ),
    ...TIME_ZONES.map(
      ([id, label], index): Action => ({
        label,
        icon: 'clock',
        startsGroup: index === 0,
        isChosen: id === timeZone,
        onAction: () => setTimeZone(id),
      }),
    ),
    { label: 'Keyboard shortcuts', icon: 'keyboard', startsGroup: true, onAction: onShortcuts },
    { label: 'API reference', icon: 'outside', onAction: () => location.assign(`${BASE_PATH}/docs`) },
    { label: 'Sign out', icon: 'out', startsGroup: true, onAction: () => signOut.mutate() },
  ];
  return (
    <ActionMenu
      actions={actions}
      label="User menu"
      trigger={
        <Button className="who-button">
          <span className="who-text">
            <span className="who-name">{login.name ?? login.email}</span>
            {login.name && <span className="quiet small">{login.email}</span>}
            {timeZone === 'utc' && <span className="quiet small">Times in UTC</span>}
          </span>
          <span className="hidden-text">, user menu</span>
          <Icon name="more" />
        </Button>
      }
    />
  );
}

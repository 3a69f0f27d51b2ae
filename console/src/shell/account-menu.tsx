import { useMutation } from '@tanstack/react-query';
import { Button } from 'react-aria-components/Button';
import { send } from '../api.ts';
import { BASE_PATH } from '../base-path.ts';
import { notifyFailure } from '../parts/announcer.tsx';
import { Icon } from '../parts/icons.tsx';
import { ActionMenu } from '../parts/menu.tsx';
import { useProfile } from './profile.ts';

/** The current account, and a menu of the person's other accounts. */
export function AccountMenu() {
  const { account, accounts } = useProfile();
  const enter = useMutation({
    mutationFn: (id: number) => send('POST', '/me/account', { id }),
    // A full reload: data of one account must not appear in another, not even for a moment.
    onSuccess: () => location.assign(`${BASE_PATH}/fleet`),
    onError: (error) => notifyFailure(error.message),
  });
  const words = (
    <span className="who-text">
      <span className="who-name">{account.name}</span>
      <span className="quiet small">{account.plan[0]?.toUpperCase() + account.plan.slice(1)} plan</span>
    </span>
  );
  if (accounts.length < 2) return <div className="who-button framed">{words}</div>;
  return (
    <ActionMenu
      actions={accounts.map(({ id, name }) => ({
        id: String(id),
        label: name,
        isChosen: id === account.id,
        onAction: () => id !== account.id && enter.mutate(id),
      }))}
      label="Accounts"
      trigger={
        <Button className="who-button framed">
          {words}
          <span className="hidden-text">, switch account</span>
          <Icon name="down" />
        </Button>
      }
    />
  );
}

import './sessions.css';
import { Page } from '../../parts/page.tsx';
import { Passkeys } from './passkeys.tsx';
import { Password } from './password.tsx';
import { SessionList } from './session-list.tsx';

/** How one signs in, and where one is signed in. */
export function SessionsPage() {
  return (
    <Page description="What is here is yours, the same in all your accounts." title="Sign-in and sessions">
      <SessionList />
      <Password />
      <Passkeys />
    </Page>
  );
}

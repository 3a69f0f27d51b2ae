import './sessions.css';
import { Page } from '../../parts/page.tsx';
import { Passkeys } from './passkeys.tsx';
import { Password } from './password.tsx';
import { SessionList } from './session-list.tsx';

/** The person's sessions, password and passkeys. */
export function SessionsPage() {
  return (
    <Page description="These are your own sessions and passkeys." title="Sign-in and sessions">
      <SessionList />
      <Password />
      <Passkeys />
    </Page>
  );
}

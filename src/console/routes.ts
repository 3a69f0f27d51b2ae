import { accountRoutes } from './account.ts';
import { activityRoutes } from './activity.ts';
import { changeConnectionRoutes } from './change-connections.ts';
import { keyChangeRoutes } from './change-keys.ts';
import { connectionRoutes } from './connection-detail.ts';
import { fleetRoutes } from './fleet.ts';
import { invitationRoutes } from './invitations.ts';
import { keyRoutes } from './keys.ts';
import { linkRoutes } from './links.ts';
import { loginSqlRoutes } from './login-sql.ts';
import { meRoutes } from './me.ts';
import { memberRoutes } from './members.ts';
import { sessionRoutes } from './own-sessions.ts';
import { passkeySignInRoutes } from './passkey-sign-in.ts';
import { passkeyRoutes } from './passkeys.ts';
import { proofRoutes } from './prove-again.ts';
import { readRoutes } from './read.ts';
import type { ConsoleRoute } from './route.ts';
import { runRoutes } from './runs.ts';
import { signInRoutes } from './sign-in.ts';
import { silenceRoutes } from './silences.ts';
import { singleSignOnRoutes } from './single-sign-on.ts';
import { testConnectionRoutes } from './test-connection.ts';
import { ticketRoutes } from './ticket.ts';
import { ticketStatsRoutes } from './ticket-stats.ts';

/** Every route of the console's API. */
export const ROUTES: readonly ConsoleRoute[] = [
  ...signInRoutes,
  ...passkeySignInRoutes,
  ...singleSignOnRoutes,
  ...linkRoutes,
  ...invitationRoutes,
  ...proofRoutes,
  ...meRoutes,
  ...passkeyRoutes,
  ...sessionRoutes,
  ...keyRoutes,
  ...keyChangeRoutes,
  ...memberRoutes,
  ...accountRoutes,
  ...activityRoutes,
  ...changeConnectionRoutes,
  ...connectionRoutes,
  ...fleetRoutes,
  ...loginSqlRoutes,
  ...readRoutes,
  ...runRoutes,
  ...silenceRoutes,
  ...testConnectionRoutes,
  ...ticketRoutes,
  ...ticketStatsRoutes,
];

import { accountRoutes } from './account.ts';
import { activityRoutes } from './activity.ts';
import { apiMirrorRoutes } from './api-mirror.ts';
import { changeConnectionRoutes } from './change-connections.ts';
import { keyChangeRoutes } from './change-keys.ts';
import { connectionRoutes } from './connection-detail.ts';
import { fleetRoutes } from './fleet.ts';
import { invitationRoutes } from './invitations.ts';
import { keyRoutes } from './keys.ts';
import { linkRoutes } from './links.ts';
import { memberRoutes } from './members.ts';
import { monitoringRoleSqlRoutes } from './monitoring-role-sql.ts';
import { passkeySignInRoutes } from './passkey-sign-in.ts';
import { passkeyRoutes } from './passkeys.ts';
import { profileRoutes } from './profile.ts';
import { reauthenticationRoutes } from './reauthenticate.ts';
import type { ConsoleRoute } from './route.ts';
import { runRoutes } from './runs.ts';
import { sessionRoutes } from './session-list.ts';
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
  ...reauthenticationRoutes,
  ...profileRoutes,
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
  ...monitoringRoleSqlRoutes,
  ...apiMirrorRoutes,
  ...runRoutes,
  ...silenceRoutes,
  ...testConnectionRoutes,
  ...ticketRoutes,
  ...ticketStatsRoutes,
];

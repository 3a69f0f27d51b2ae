import { accountRoutes } from './account/account-routes.ts';
import { activityRoutes } from './activity/activity-routes.ts';
import { alertRoutes } from './alerts/alert-routes.ts';
import { maintenanceRoutes } from './alerts/maintenance-routes.ts';
import { rulePreviewRoutes } from './alerts/rule-preview.ts';
import { alertRuleRoutes } from './alerts/rule-routes.ts';
import { apiMirrorRoutes } from './api-mirror.ts';
import { changeRoutes } from './changes/change-routes.ts';
import { factRoutes } from './changes/fact-routes.ts';
import { collectorRoutes } from './collectors/collector-routes.ts';
import { backupRoutes } from './connections/backup-routes.ts';
import { changeConnectionRoutes } from './connections/change-connections.ts';
import { connectionRoutes } from './connections/connection-detail.ts';
import { monitoringRoleSqlRoutes } from './connections/monitoring-role-sql.ts';
import { runHistoryRoutes } from './connections/run-history.ts';
import { runRoutes } from './connections/runs.ts';
import { silenceRoutes } from './connections/silences.ts';
import { testConnectionRoutes } from './connections/test-connection.ts';
import { episodeRoutes } from './episodes/episode-routes.ts';
import { fleetMeasureRoutes } from './fleet/fleet-measures.ts';
import { fleetNowRoutes } from './fleet/fleet-now.ts';
import { fleetRoutes } from './fleet/fleet-routes.ts';
import { keyChangeRoutes } from './keys/change-keys.ts';
import { keyRoutes } from './keys/key-routes.ts';
import { keyUseRoutes } from './keys/key-use-routes.ts';
import { liveRoutes } from './live/live-routes.ts';
import { loadRoutes } from './load/load-routes.ts';
import { measureRoutes } from './measures/measure-routes.ts';
import { invitationRoutes } from './members/invitations.ts';
import { memberRoutes } from './members/member-routes.ts';
import { deliveryRoutes } from './notifications/delivery-routes.ts';
import { destinationRoutes } from './notifications/destination-routes.ts';
import { emailRoutes } from './notifications/email-routes.ts';
import { onboardingRoutes } from './onboarding/onboarding-routes.ts';
import { ownCheckRoutes } from './own-checks/own-check-routes.ts';
import { queryRoutes } from './queries/query-routes.ts';
import type { ConsoleRoute } from './route.ts';
import { linkRoutes } from './sign-in/links.ts';
import { passkeySignInRoutes } from './sign-in/passkey-sign-in.ts';
import { passkeyRoutes } from './sign-in/passkeys.ts';
import { profileRoutes } from './sign-in/profile.ts';
import { reauthenticationRoutes } from './sign-in/reauthenticate.ts';
import { sessionRoutes } from './sign-in/session-list.ts';
import { signInRoutes } from './sign-in/sign-in-routes.ts';
import { singleSignOnRoutes } from './sign-in/single-sign-on.ts';
import { tagRoutes } from './tags/tag-routes.ts';
import { silenceListRoutes } from './thresholds/silence-list.ts';
import { thresholdRoutes } from './thresholds/threshold-routes.ts';
import { ticketRoutes } from './tickets/ticket.ts';
import { ticketCommentRoutes } from './tickets/ticket-comments.ts';
import { ticketListRoutes } from './tickets/ticket-list.ts';
import { ticketStatsRoutes } from './tickets/ticket-stats.ts';
import { ticketTriageRoutes } from './tickets/ticket-triage.ts';
import { viewRoutes } from './views/view-routes.ts';

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
  ...keyUseRoutes,
  ...keyChangeRoutes,
  ...collectorRoutes,
  ...memberRoutes,
  ...accountRoutes,
  ...activityRoutes,
  ...alertRoutes,
  ...alertRuleRoutes,
  ...rulePreviewRoutes,
  ...maintenanceRoutes,
  ...changeConnectionRoutes,
  ...connectionRoutes,
  ...fleetRoutes,
  ...fleetMeasureRoutes,
  ...fleetNowRoutes,
  ...monitoringRoleSqlRoutes,
  ...apiMirrorRoutes,
  ...runRoutes,
  ...runHistoryRoutes,
  ...measureRoutes,
  ...changeRoutes,
  ...factRoutes,
  ...episodeRoutes,
  ...liveRoutes,
  ...loadRoutes,
  ...queryRoutes,
  ...backupRoutes,
  ...silenceRoutes,
  ...silenceListRoutes,
  ...thresholdRoutes,
  ...ownCheckRoutes,
  ...tagRoutes,
  ...testConnectionRoutes,
  ...ticketRoutes,
  ...ticketStatsRoutes,
  ...ticketListRoutes,
  ...ticketTriageRoutes,
  ...ticketCommentRoutes,
  ...destinationRoutes,
  ...deliveryRoutes,
  ...emailRoutes,
  ...viewRoutes,
  ...onboardingRoutes,
];

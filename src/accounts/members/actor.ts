import type { Permission } from '../../vocabulary/role-permissions.ts';

/** The member that the session currently acts as. */
export interface Actor {
  sessionId: number;
  loginId: number;
  /** The login's id. */
  email: string;
  accountId: number;
  memberId: number;
  name: string;
  roles: string[];
  permissions: ReadonlySet<Permission>;
  /** Whether the person signed in or confirmed their identity within the last 10 minutes. */
  isRecent: boolean;
  /** Whether the login belongs to an identity provider. Otherwise it has a password and belongs to this account alone. */
  bySingleSignOn: boolean;
}

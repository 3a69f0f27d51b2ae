import { connect } from 'node:net';
import type { Target } from '../../src/monitor/session/session.ts';
import { startBastion as start } from '../support/bastion.ts';
import { makeSshKey } from '../support/ssh-key.ts';

/** A real SSH server, which forwards every name to the server that is tested. */
export interface Bastion {
  /** A connection through it to `db.internal`. */
  tunnel: Partial<Target>;
  close(): void;
}

/** Starts a bastion before the port of a server on this machine. */
export async function startBastion(port: number): Promise<Bastion> {
  const user = makeSshKey();
  const bastion = await start(user, () => connect(port, '127.0.0.1'));
  const login = { username: 'tunnel', privateKey: user.private, agentSocket: null, hostKey: null };
  return {
    tunnel: {
      connectionType: 'ssh_tunnel',
      host: 'db.internal',
      tunnel: { host: '127.0.0.1', port: bastion.port, ...login },
    },
    close: bastion.close,
  };
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Target } from '../../src/monitor/session/session.ts';
import { pastedLogin, pastedSql } from '../support/pasted-sql.ts';
import { MysqlServer } from './mysql-server.ts';
import { unusedPort } from './provocations-settings.ts';
import { ENGINE, ON_MYSQL } from './tested-server.ts';

/** A server with the login of docs/least-privilege.md. On MySQL that requires TLS, and the certificate is the server's own. */
export async function startWithDocumentedLogin(): Promise<{ server: MysqlServer; target: Target }> {
  const port = await unusedPort();
  const server = await MysqlServer.start(
    ON_MYSQL ? { 'skip-networking': 'OFF', 'bind-address': '127.0.0.1', port } : {},
  );
  await server.run(pastedSql(ON_MYSQL ? 'MySQL' : 'MariaDB').flat());
  const target = pastedLogin({ engine: ENGINE, host: server.socket, port: Number(port), database: '' });
  if (!ON_MYSQL) return { server, target };
  const caCertificate = readFileSync(join(server.data, 'ca.pem'), 'utf8');
  return {
    server,
    target: { ...target, connectionType: 'direct', host: '127.0.0.1', tls: 'verify-ca', caCertificate },
  };
}

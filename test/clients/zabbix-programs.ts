import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { PASSWORD, type PostgresServer } from '../checks/postgres-server.ts';
import { freePort } from '../contract/free-port.ts';
import { type Program, startProgram } from './program.ts';

/** Creates Zabbix's tables and initial data. */
export async function fill(store: PostgresServer): Promise<void> {
  const client = await store.open();
  for (const part of ['schema', 'images', 'data']) {
    const packed = readFileSync(`/usr/share/zabbix-server-pgsql/${part}.sql.gz`);
    await client.query(gunzipSync(packed).toString());
  }
  await client.end();
}

/** The frontend on PHP's built-in server. */
export function startFrontend(folder: string, store: PostgresServer, port: number): Program {
  const root = join(folder, 'frontend');
  cpSync('/usr/share/zabbix', root, { recursive: true, verbatimSymlinks: true });
  const settings = `<?php
$DB = ['TYPE' => 'POSTGRESQL', 'SERVER' => '${store.host}', 'PORT' => '${store.port}', 'DATABASE' => 'shop',
  'USER' => 'postgres', 'PASSWORD' => '${PASSWORD}', 'SCHEMA' => '', 'ENCRYPTION' => false, 'DOUBLE_IEEE754' => true];
$IMAGE_FORMAT_DEFAULT = IMAGE_FORMAT_PNG;
`;
  const file = join(folder, 'zabbix.conf.php');
  writeFileSync(file, settings, { mode: 0o600 });
  // Debian's version reads its configuration from /etc, which belongs to the machine.
  const finder = join(root, 'include/classes/core/CConfigFile.php');
  writeFileSync(finder, readFileSync(finder, 'utf8').replace('/etc/zabbix/zabbix.conf.php', file));
  return startProgram('/usr/bin/php', ['-S', `127.0.0.1:${port}`, '-t', root], { cwd: folder });
}

/** The server that polls; only its trapper listens, on loopback. */
export async function startServer(folder: string, store: PostgresServer): Promise<Program> {
  const settings = `
ListenIP=127.0.0.1
ListenPort=${await freePort()}
LogType=console
PidFile=${folder}/pid
SocketDir=${folder}
DBHost=${store.host}
DBPort=${store.port}
DBName=shop
DBUser=postgres
DBPassword=${PASSWORD}
AllowRoot=1
CacheUpdateFrequency=2
StartPingers=0
StartTrappers=1
`;
  const file = join(folder, 'server.conf');
  writeFileSync(file, settings, { mode: 0o600 });
  return startProgram('/usr/sbin/zabbix_server', ['-f', '-c', file], { cwd: folder });
}

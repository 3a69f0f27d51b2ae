import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { PASSWORD } from './mysql-server.ts';
import { createData, ON_MYSQL, TESTED } from './tested-server.ts';

/** Creates the data folder that MySQL servers start from, once per run: that takes 5 s, and a copy 0.1 s. */
export default function setup(): () => void {
  if (!ON_MYSQL) return () => {};
  const folder = mkdtempSync(join(tmpdir(), 'mysql-'));
  const data = join(folder, 'data');
  createData(TESTED, data, folder, userInfo().username, PASSWORD);
  process.env['TEST_MYSQL_DATA'] = data;
  return () => rmSync(folder, { recursive: true, force: true });
}

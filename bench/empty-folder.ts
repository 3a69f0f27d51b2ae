import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where the benchmark starts programs: neither a developer's .env lies here nor a folder that other programs share. */
export const EMPTY_FOLDER = mkdtempSync(join(tmpdir(), 'dbvitals-bench-programs-'));

process.once('exit', () => rmSync(EMPTY_FOLDER, { recursive: true, force: true }));

import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * A folder of Linux's control groups, version 2, with a group for each stage. A group counts the processor time of everything
 * that a stage started, and can end what the stage left running. Null where this user or machine can't have one.
 */
export function makeGroups() {
  for (const above of ['/sys/fs/cgroup', '/sys/fs/cgroup/unified']) {
    const folder = join(above, `dbvitals-${process.pid}`);
    try {
      if (!existsSync(join(above, 'cgroup.procs'))) continue;
      mkdirSync(folder);
      return folder;
    } catch {} // read-only, or of another user
  }
  return null;
}

/** Makes the group of a stage. */
export function makeGroup(groups, name) {
  const folder = join(groups, name);
  mkdirSync(folder);
  return folder;
}

/** Processor seconds of a group. */
export function readSeconds(group) {
  const text = readFileSync(join(group, 'cpu.stat'), 'utf8');
  const read = (name) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(text)?.[1] ?? 0) / 1e6;
  return { user: read('user_usec'), system: read('system_usec') };
}

/** Kills whatever still runs in a group. */
export function killGroup(group) {
  if (existsSync(join(group, 'cgroup.kill'))) writeFileSync(join(group, 'cgroup.kill'), '1');
}

/** Kills what runs in any group, and removes the folder. */
export async function removeGroups(groups) {
  const all = readdirSync(groups, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  for (const { name } of all) killGroup(join(groups, name));
  for (let attempt = 0; attempt < 50; attempt += 1) {
    try {
      for (const { name } of all) if (existsSync(join(groups, name))) rmdirSync(join(groups, name));
      return rmdirSync(groups);
    } catch {
      await wait(100); // until the killed processes have gone
    }
  }
}

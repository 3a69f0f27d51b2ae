import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chownSync, closeSync, mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { serverUser } from '../../src/store/server-user.ts';
import { freePort } from '../contract/free-port.ts';
import { freeze, isAlive, send } from '../support/process-tree.ts';
import { overwritesLeader, patroniPrograms } from './patroni-programs.ts';
import { patroniSettings } from './patroni-settings.ts';

/** How long the cluster may take to become whole: a base backup, or a machine's start, crash recovery and a rewind. */
const WHOLE_MS = 120_000;

/** How long after its end a node starts again by itself: a machine that boots takes longer than `ttl`. */
const BOOT_MS = 30_000;

/** A node: Patroni and its PostgreSQL. */
export interface PatroniNode {
  name: string;
  port: number;
  restPort: number;
  folder: string;
  patroni: ChildProcess | null;
}

/** A node as Patroni's REST API lists it. */
interface Member {
  name: string;
  role: string;
  state: string;
  timeline?: number;
}

export interface PatroniCluster {
  nodes: readonly PatroniNode[];
  /** Patroni's version, and how it reaches etcd. */
  description: string;
  /** The password of the superuser `postgres`. */
  password: string;
  /** The node that accepts writes, by Patroni's own health check; null = none. */
  leader(): Promise<PatroniNode | null>;
  /** Waits until a node leads, another is its synchronous standby, and the third streams too. Returns the leader. */
  whole(): Promise<PatroniNode>;
  /** Sends SIGKILL to Patroni and all of PostgreSQL's processes, and waits for their end. The node starts again by itself, 30 s later. */
  kill(node: PatroniNode): Promise<void>;
  /** Pauses Patroni and all of PostgreSQL's processes, as a hypervisor pauses a machine. Returns what continues them. */
  freeze(node: PatroniNode): () => void;
  /** Asks Patroni to hand the lead of this node to its synchronous standby. */
  switchover(from: PatroniNode): Promise<void>;
  /** The last lines of each node's log. */
  logs(): string;
  stop(): Promise<void>;
}

/** Starts etcd and three nodes below `folder`, on free ports of 127.0.0.1, as the user of the embedded server. */
export async function startPatroniCluster(folder: string): Promise<PatroniCluster> {
  const { postgres, version } = patroniPrograms();
  const api = overwritesLeader(version) ? 'v2' : 'v3';
  const user = serverUser();
  const password = randomBytes(16).toString('hex');
  const own = (path: string) => {
    if (user) chownSync(path, user.uid, user.gid);
  };
  const make = (name: string) => {
    const path = join(folder, name);
    mkdirSync(path, { mode: 0o700 });
    own(path);
    return path;
  };
  const run = (program: string, args: string[], name: string) => {
    const log = openSync(join(folder, `${name}.log`), 'a', 0o600);
    const { PATH = '' } = process.env;
    const env = { PATH, LC_ALL: 'C.UTF-8', HOME: folder };
    const child = spawn(program, args, { cwd: '/', env, stdio: ['ignore', log, log], ...user });
    closeSync(log);
    return child;
  };

  const [client, peer] = [await freePort(), await freePort()];
  const [clientUrl, peerUrl] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`];
  const etcd = run(
    'etcd',
    [
      '--name',
      'etcd',
      '--data-dir',
      join(make('etcd'), 'data'),
      '--listen-client-urls',
      clientUrl,
      '--advertise-client-urls',
      clientUrl,
      '--listen-peer-urls',
      peerUrl,
      '--initial-advertise-peer-urls',
      peerUrl,
      '--initial-cluster',
      `etcd=${peerUrl}`,
      ...(api === 'v2' ? ['--enable-v2=true'] : []),
    ],
    'etcd',
  );

  const nodes: PatroniNode[] = [];
  for (const name of ['one', 'two', 'three']) {
    const node = { name, port: await freePort(), restPort: await freePort(), patroni: null };
    nodes.push({ ...node, folder: make(name) });
  }
  for (const node of nodes) {
    // JSON is YAML.
    const file = join(node.folder, 'patroni.yml');
    writeFileSync(file, JSON.stringify(patroniSettings(node, { client, api, password, postgres }), null, 2), {
      mode: 0o600,
    });
    own(file);
  }

  let stopped = false;
  const start = (node: PatroniNode) => {
    const patroni = run('patroni', [join(node.folder, 'patroni.yml')], node.name);
    node.patroni = patroni;
    void once(patroni, 'exit').then(async () => {
      await wait(BOOT_MS, undefined, { ref: false });
      if (!stopped) start(node);
    });
  };
  const cluster: PatroniCluster = {
    nodes,
    description: `Patroni ${version} over etcd's API ${api}`,
    password,
    async leader() {
      for (const node of nodes) {
        const { ok } = await fetch(`http://127.0.0.1:${node.restPort}/primary`, {
          signal: AbortSignal.timeout(1_000),
        }).catch(() => ({ ok: false }));
        if (ok) return node;
      }
      return null;
    },
    async whole() {
      let seen = 'nothing';
      for (const deadline = performance.now() + WHOLE_MS; performance.now() < deadline; await wait(250)) {
        const leader = await cluster.leader();
        if (!leader) continue;
        const members = await membersOf(leader);
        seen = JSON.stringify(
          members.map(({ name, role, state, timeline }) => [name, role, state, timeline]),
        );
        const roles = members.map(({ role }) => role).toSorted();
        const streams = members.every(({ state }) => state === 'running' || state === 'streaming');
        // A node that is yet to be rewound is on an older timeline.
        const timelines = new Set(members.map(({ timeline }) => timeline));
        if (streams && timelines.size === 1 && roles.join() === 'leader,replica,sync_standby') return leader;
      }
      throw new Error(`The cluster is not whole after ${WHOLE_MS / 1_000} s, but ${seen}.`);
    },
    async kill(node) {
      // Paused first, so that all end at the same instant.
      const killed = freeze(processesOf(node));
      for (const pid of killed) send(pid, 'SIGKILL');
      while (killed.some(isAlive)) await wait(10);
    },
    freeze(node) {
      const frozen = freeze(processesOf(node));
      return () => {
        for (const pid of frozen) send(pid, 'SIGCONT');
      };
    },
    async switchover(from) {
      const members = await membersOf(from);
      const candidate = members.find(({ role }) => role === 'sync_standby')?.name;
      const answer = await fetch(`http://127.0.0.1:${from.restPort}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: from.name, candidate }),
      });
      if (!answer.ok) throw new Error(`Patroni did not switch over: ${await answer.text()}`);
    },
    logs() {
      const tail = (name: string) =>
        readFileSync(join(folder, `${name}.log`), 'utf8')
          .split('\n')
          .slice(-80);
      return nodes.map(({ name }) => [`== ${name}`, ...tail(name)].join('\n')).join('\n');
    },
    async stop() {
      stopped = true;
      for (const node of nodes) {
        await Promise.race([terminate(node.patroni), wait(20_000)]);
        await cluster.kill(node);
      }
      await terminate(etcd);
    },
  };
  try {
    for (const node of nodes) start(node);
    await cluster.whole();
    return cluster;
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

async function membersOf(node: PatroniNode): Promise<Member[]> {
  const answer = await fetch(`http://127.0.0.1:${node.restPort}/cluster`).catch(() => null);
  if (!answer?.ok) return [];
  const { members } = (await answer.json()) as { members: Member[] };
  return members;
}

/** Patroni, and the postmaster, which Patroni detaches. */
function processesOf({ patroni, folder }: PatroniNode): number[] {
  const runs = patroni !== null && patroni.exitCode === null && patroni.signalCode === null;
  return [runs ? patroni.pid : null, postmasterOf(join(folder, 'data'))].filter((pid) => pid != null);
}

/** The postmaster of a data folder. A pid file that a killed one left may name a process of someone else. */
function postmasterOf(data: string): number | null {
  try {
    const pid = Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]);
    const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
    return words.includes(data) ? pid : null;
  } catch {
    return null;
  }
}

async function terminate(child: ChildProcess | null): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  await ended;
}

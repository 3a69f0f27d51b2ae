import { setTimeout as wait } from 'node:timers/promises';
import { styleText } from 'node:util';
import type { Command } from 'commander';
import { ownerOfConnection, readConnection } from '../../connections/connection-row.ts';
import type { LiveLook } from '../../monitor/pulse/live-look.ts';
import { inTransaction } from '../../store/connect.ts';
import { durationOf, idOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { cell, jsonLine } from '../print.ts';
import { type TopView, topJson, topLines, toTopView } from './top-view.ts';

const EVERY_SECONDS = 2;

interface TopOptions {
  connection: number;
  every?: number;
  once?: boolean;
  json?: boolean;
}

/** `top`. */
export function addTopCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'top',
    'show what the sessions of a watched server do now, and who blocks whom; q or Ctrl-C ends it',
  )
    .requiredOption('--connection <ID>', 'the connection', idOf('--connection'))
    .option(
      '--every <D>',
      `how often to look, from 1s to 60s (default: ${EVERY_SECONDS}s)`,
      durationOf('--every', '1s', '60s'),
    )
    .option('--once', 'look once, and end; so does --json, and output that is no terminal')
    .action(async ({ connection, every = EVERY_SECONDS, once, json }: TopOptions) => {
      await context.withStore(async (writer) => {
        const accountId = await ownerOfConnection(writer, connection);
        const { name } = await inTransaction(writer, (client) =>
          readConnection(client, accountId, connection),
        );
        await context.lookAt(writer, { accountId, connectionId: connection }, async (look) => {
          if (!once && !json && process.stdout.isTTY) return watch(look, name, every);
          const view = toTopView(null, await readOrThrow(look), new Date());
          process.stdout.write(json ? jsonLine(topJson(view)) : `${topLines(name, view).join('\n')}\n`);
        });
      });
    });
}

async function readOrThrow(look: LiveLook['look']) {
  const answer = await look();
  if ('reading' in answer) return answer.reading;
  throw new Error(`The server could not be read: ${cell(answer.failure.reason)}.`);
}

// Another screen, without cursor, and without a new line where one is too long; and back.
const ENTER = '\u001b[?1049h\u001b[?25l\u001b[?7l';
const LEAVE = '\u001b[?7h\u001b[?25h\u001b[?1049l';

const CTRL_C = '\u0003';

/** Shows the server until a person ends it. A refused login ends it too, since servers lock logins. */
async function watch(look: LiveLook['look'], name: string, every: number): Promise<void> {
  const ended = new AbortController();
  const end = () => ended.abort();
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const key = (pressed: Buffer) => {
    if (['q', CTRL_C].includes(pressed.toString())) end(); // raw input has no signals
  };
  for (const signal of signals) process.once(signal, end);
  process.stdout.once('error', end);
  process.stdin.setRawMode?.(true).on('data', key);
  process.stdout.write(ENTER);
  try {
    let view: TopView | null = null;
    while (!ended.signal.aborted) {
      const began = performance.now();
      const answer = await look();
      if (ended.signal.aborted) return;
      if ('reading' in answer) {
        view = toTopView(view, answer.reading, new Date());
        show(topLines(name, view));
      } else if (['unauthorized', 'no_room'].includes(answer.failure.kind)) {
        throw new Error(`The server could not be read: ${cell(answer.failure.reason)}.`);
      } else {
        show([
          ...(view ? topLines(name, view) : []),
          '',
          warning(`Not read: ${cell(answer.failure.reason)}.`),
        ]);
      }
      const pause = every * 1_000 - (performance.now() - began);
      await wait(Math.max(0, pause), undefined, { signal: ended.signal }).catch(() => {});
    }
  } finally {
    process.stdout.write(LEAVE);
    process.stdin.removeListener('data', key).setRawMode?.(false);
    process.stdin.pause();
    for (const signal of signals) process.removeListener(signal, end);
  }
}

function show(lines: readonly string[]): void {
  const shown = lines.slice(0, Math.max(1, process.stdout.rows - 1));
  process.stdout.write(`\u001b[H${shown.map((line) => `${line}\u001b[K\r\n`).join('')}\u001b[J`);
}

function warning(text: string): string {
  return styleText('red', text, { stream: process.stdout });
}

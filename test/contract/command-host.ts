// Runs commands of the program one after another in this one process, for fixture-command.ts.
import { Readable } from 'node:stream';
import type { HostedCommand, HostedResult } from './fixture-command.ts';

const [, , main = ''] = process.argv;

type Write = typeof process.stdout.write;

/** Collects what is written to a stream until the returned function is called, which gives it. */
function collect(stream: NodeJS.WriteStream): () => string {
  const { write } = stream;
  let text = '';
  stream.write = ((chunk: string | Uint8Array, ...rest: unknown[]) => {
    text += typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString();
    for (const last of rest) if (typeof last === 'function') last();
    return true;
  }) as Write;
  return () => {
    stream.write = write;
    return text;
  };
}

let count = 0;

async function run({ args, environment, input, folder }: HostedCommand): Promise<HostedResult> {
  process.argv = [process.execPath, main, ...args];
  process.env = { ...environment };
  process.chdir(folder);
  process.exitCode = 0;
  Object.defineProperty(process, 'stdin', { value: Readable.from([input]), configurable: true });
  const [stdout, stderr] = [collect(process.stdout), collect(process.stderr)];
  count += 1;
  await import(`${main}?command=${count}`); // evaluated anew for each command; what it imports is loaded once
  process.chdir('/');
  const { exitCode } = process;
  process.exitCode = 0;
  return { exit: Number(exitCode), stdout: stdout(), stderr: stderr() };
}

process.stdout.setMaxListeners(0);
process.setMaxListeners(0); // a command listens for signals until its process ends
let last = Promise.resolve();
process.on('message', (command: HostedCommand) => {
  last = last.then(async () => {
    process.send?.(await run(command));
  });
});
process.once('disconnect', () => process.exit());

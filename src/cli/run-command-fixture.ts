import { Command } from 'commander';
import { vi } from 'vitest';
import type { TestStore } from '../../test/support/store.ts';
import type { CommandContext } from './command.ts';

/** Runs a command that uses nothing but the store, and returns what it prints. Throws what the command throws. */
export async function runCommand(
  { writer }: TestStore,
  add: (program: Command, context: CommandContext) => void,
  words: readonly string[],
): Promise<string> {
  const program = new Command().exitOverride();
  const context: Pick<CommandContext, 'withStore' | 'withEachStore' | 'withReachableStores'> = {
    withStore: (work) => work(writer, () => writer, null),
    withEachStore: async (work) => [await work(writer, () => writer, null)],
    withReachableStores: async (work) => ({ done: [await work(writer, () => writer, null)], away: [] }),
  };
  add(program, context as CommandContext);
  const printed: string[] = [];
  const write = vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    printed.push(String(text));
    return true;
  });
  try {
    await program.parseAsync(words, { from: 'user' });
  } finally {
    write.mockRestore();
  }
  return printed.join('');
}

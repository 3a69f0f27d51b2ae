import type { NamedPlace } from './open-cells.ts';

/** Runs `work` on the store of several that `place` is. Its errors name the place, unless they do already. */
export async function inPlace<T>(
  { name, cellId }: Pick<NamedPlace, 'name' | 'cellId'>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const isNamed =
      cellId === null || !(error instanceof Error) || error.message.toLowerCase().includes(name);
    if (!isNamed) error.message = `In ${name}: ${error.message}`;
    throw error;
  }
}

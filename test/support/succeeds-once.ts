/**
 * Calls `attempt` until it resolves to true, at most five times; resolves to whether it did. For what only time can judge: a
 * machine that stops for some seconds spoils one attempt, a fault spoils them all.
 */
export async function succeedsOnce(attempt: () => Promise<boolean>): Promise<boolean> {
  for (let times = 0; times < 5; times += 1) if (await attempt()) return true;
  return false;
}

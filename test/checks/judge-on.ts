import type { JudgementInput } from '../../src/checks/judgement-of.ts';
import { postgresChecks } from '../../src/checks/postgres/postgres-checks.ts';
import type { SeenJudgement } from '../support/seen-judgement.ts';
import { measure } from './measure.ts';
import type { Login, PostgresServer } from './postgres-server.ts';

type Input = Pick<JudgementInput, 'thresholds' | 'before' | 'expectedStandbys'>;

/** Takes each index for one that was counted long enough, and for a large one. */
export const OLD_ENOUGH = { statistics_days: 0, minimum_bytes: 0 };

/** What checks judge on a server, which may start later. */
export function judgeOn(server: () => PostgresServer) {
  async function asked<T>(
    login: Login,
    ask: (...of: Parameters<typeof measure>) => Promise<T>,
    id: string,
    given: Input = {},
  ): Promise<T> {
    const check = postgresChecks.find((each) => each.id === id);
    if (!check) throw new Error(`There is no check ${id}.`);
    const client = await server().open(login);
    try {
      return await ask(client, check, given);
    } finally {
      await client.end();
    }
  }
  const judged = (id: string, given: Input = {}, login: Login = 'watcher'): Promise<SeenJudgement> =>
    asked(login, measure, id, given);
  return {
    asked,
    judged,
    objects: async (id: string, given: Input = {}) =>
      (await judged(id, given)).faults.map(({ object }) => object),
    async made(...statements: string[]): Promise<void> {
      for (const statement of statements) await server().run(statement);
    },
  };
}

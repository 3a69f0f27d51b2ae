import { UsageError } from './command.ts';

/** A file that can't be used: a sentence for each mistake, with its line and column, and none of them holds a secret. */
export class InvalidFile extends UsageError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

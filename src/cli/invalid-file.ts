import { UsageError } from './usage-error.ts';

/** An invalid file. Lists each mistake with its line and column, and never shows a secret. */
export class InvalidFile extends UsageError {
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

import { CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { Rejection } from '../platform/rejection.ts';
import { connectFailure, ONLY_STORE } from '../store/link/store-connect-failure.ts';
import { InvalidFile } from './invalid-file.ts';
import { printProblem } from './print.ts';
import { UsageError } from './usage-error.ts';

/**
 * Prints the error to standard error, one sentence per mistake, and returns the exit code: 2 for wrong usage or settings,
 * 1 for a failure.
 */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has already printed the error
  const several = error instanceof ConfigError || error instanceof InvalidFile;
  const sentences = several ? error.problems : [sentenceOf(error)];
  for (const sentence of sentences) printProblem(sentence);
  const isRejectedInput = error instanceof Rejection && error.code === 'invalid_parameter';
  return error instanceof ConfigError || error instanceof UsageError || isRejectedInput ? 2 : 1;
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'An unknown error occurred.';
  const failure = connectFailure(error, ONLY_STORE);
  if (failure !== null) return failure;
  return error.message.replace(/\s+/g, ' ');
}

import { CommanderError } from 'commander';
import { ConfigError } from '../config/config-error.ts';
import { Rejection } from '../vocabulary/rejection.ts';
import { UsageError } from './command.ts';
import { InvalidFile } from './invalid-file.ts';

const UNREACHABLE = /^(ECONNREFUSED|ECONNRESET|EHOSTUNREACH|ENOTFOUND|ETIMEDOUT|EAI_AGAIN)$/;

/**
 * Prints the error to standard error, one sentence per mistake, and returns the exit code: 2 for wrong usage or settings,
 * 1 for a failure.
 */
export function reportError(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2; // commander has already printed the error
  const several = error instanceof ConfigError || error instanceof InvalidFile;
  const sentences = several ? error.problems : [sentenceOf(error)];
  for (const sentence of sentences) process.stderr.write(`error: ${sentence}\n`);
  const isRejectedInput = error instanceof Rejection && error.code === 'invalid_parameter';
  return error instanceof ConfigError || error instanceof UsageError || isRejectedInput ? 2 : 1;
}

function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return 'An unknown error occurred.';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (UNREACHABLE.test(code) || ('syscall' in error && error.syscall === 'connect')) {
    return `Can't connect to the store (${code}): check that PostgreSQL is running and that DATABASE_URL is right.`;
  }
  if (code.startsWith('28')) {
    return `The store rejected the login (${code}): check the user and password in DATABASE_URL.`;
  }
  return error.message.replace(/\s+/g, ' ');
}

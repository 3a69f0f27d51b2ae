import { styleText } from 'node:util';
import type { Command } from 'commander';
import { addCommand, type CommandContext } from '../command.ts';
import type { Diagnosis } from '../doctor/diagnosis.ts';
import { cell, jsonLine } from '../print.ts';

const COLORS = { ok: 'green', warning: 'yellow', error: 'red' } as const;

/** `doctor`: exit code 1 when anything is an error. */
export function addDoctorCommand(program: Command, context: CommandContext): void {
  addCommand(program, 'doctor', 'check settings, store and service, and say how to fix problems')
    .option(
      '--collector',
      'check the collector of this machine instead: its key, its file, the service, each login',
    )
    .option('--folder <DIR>', 'with --collector: where its key is kept', 'dbvitals-collector')
    .option('--file <FILE>', 'with --collector: its connections', 'collector.yaml')
    .action(async ({ json, collector, ...places }: DoctorOptions) => {
      const diagnoses = collector
        ? await (await import('../collector/check-collector.ts')).checkCollector(places, context.ownPlaces())
        : await context.diagnose();
      const status = worst(diagnoses);
      if (json) process.stdout.write(jsonLine({ status, diagnoses }));
      else process.stdout.write(diagnoses.map(told).join(''));
      if (status === 'error') process.exitCode = 1;
    });
}

interface DoctorOptions {
  json?: boolean;
  collector?: boolean;
  folder: string;
  file: string;
}

function worst(diagnoses: readonly Diagnosis[]): Diagnosis['status'] {
  return (
    (['error', 'warning'] as const).find((one) => diagnoses.some(({ status }) => status === one)) ?? 'ok'
  );
}

function told({ about, status, message, remedy }: Diagnosis): string {
  const mark = styleText(COLORS[status], status.padEnd(7), { stream: process.stdout });
  const line = `${mark}  ${about.padEnd(9)}  ${cell(message)}\n`;
  return remedy === null ? line : `${line}${' '.repeat(20)}${cell(remedy)}\n`;
}

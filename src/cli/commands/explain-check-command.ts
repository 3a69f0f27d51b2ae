import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { requireCheck } from '../../connections/connection-thresholds.ts';
import { inPackage } from '../../platform/package-root.ts';
import { addCommand, type CommandContext } from '../command.ts';
import { jsonLine } from '../print.ts';

/** `check explain`, added to the group `check`: the page of a check, from docs/checks. */
export function addExplainCommand(group: Command, { loadCatalogue }: CommandContext): void {
  addCommand(
    group,
    'explain <CHECK_ID>',
    'explain a check: what it measures, why, its thresholds, and how to fix it',
  )
    .addHelpText(
      'after',
      '\nCHECK_ID is the id that findings show, such as PG_DEAD_TUPLES, in upper or lower case.',
    )
    .action(async (given: string, { json }: { json?: boolean }) => {
      const { checks } = await loadCatalogue();
      const { id, title, category, maxSeverity, thresholds = {} } = requireCheck(given.toUpperCase(), checks);
      const page = await readFile(inPackage(`docs/checks/${id}.md`), 'utf8');
      process.stdout.write(
        json ? jsonLine({ id, title, category, worst: maxSeverity, thresholds, page }) : page,
      );
    });
}

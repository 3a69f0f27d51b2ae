import type { Command } from 'commander';
import type { CommandContext } from './command.ts';

type AddCommand = (program: Command, context: CommandContext) => void;

/** The commands by their groups in `--help`, in its order, and the module that adds each. */
const COMMANDS: readonly [group: string, commands: Readonly<Record<string, () => Promise<AddCommand>>>][] = [
  [
    'Serve:',
    {
      monitor: async () => (await import('./commands/monitor-command.ts')).addMonitorCommand,
      collect: async () => (await import('./collector/collect-command.ts')).addCollectCommand,
    },
  ],
  [
    'Watch:',
    {
      connection: async () => (await import('./commands/connection-command.ts')).addConnectionCommands,
      collector: async () => (await import('./collector/collector-command.ts')).addCollectorCommands,
      check: async () => (await import('./commands/check-command.ts')).addCheckCommands,
      measures: async () => (await import('./commands/measure-command.ts')).addMeasureCommands,
      queries: async () => (await import('./queries/query-command.ts')).addQueryCommands,
      episodes: async () => (await import('./commands/episode-command.ts')).addEpisodeCommands,
      load: async () => (await import('./load/load-command.ts')).addLoadCommands,
      top: async () => (await import('./load/top-command.ts')).addTopCommand,
      changes: async () => (await import('./commands/change-command.ts')).addChangeCommands,
    },
  ],
  [
    'Tickets and notifications:',
    {
      ticket: async () => (await import('./tickets/ticket-command.ts')).addTicketCommands,
      alert: async () => (await import('./commands/alert-command.ts')).addAlertCommands,
      threshold: async () => (await import('./thresholds/threshold-command.ts')).addThresholdCommands,
      silence: async () => (await import('./commands/silence-command.ts')).addSilenceCommands,
      destination: async () => (await import('./commands/destination-command.ts')).addDestinationCommands,
      maintenance: async () => (await import('./commands/maintenance-command.ts')).addMaintenanceCommands,
      digest: async () => (await import('./digest/digest-command.ts')).addDigestCommand,
    },
  ],
  [
    'Accounts:',
    {
      account: async () => (await import('./commands/account-command.ts')).addAccountCommands,
      key: async () => (await import('./commands/key-command.ts')).addKeyCommands,
      member: async () => (await import('./commands/member-command.ts')).addMemberCommands,
      activity: async () => (await import('./commands/activity-tail-command.ts')).addActivityCommands,
      apply: async () => (await import('./apply/apply.ts')).addApplyCommand,
    },
  ],
  [
    'Store:',
    {
      migrate: async () => (await import('./commands/migrate-command.ts')).addMigrateCommand,
      doctor: async () => (await import('./commands/doctor-command.ts')).addDoctorCommand,
      backup: async () => (await import('./commands/backup-command.ts')).addBackupCommand,
      restore: async () => (await import('./commands/restore-command.ts')).addRestoreCommand,
      secret: async () => (await import('./commands/secret-command.ts')).addSecretCommands,
    },
  ],
  [
    'Tools:',
    {
      exporter: async () => (await import('./exporter/exporter.ts')).addExporterCommand,
      mcp: async () => (await import('./mcp/mcp.ts')).addMcpCommand,
      webhook: async () => (await import('./commands/webhook-command.ts')).addWebhookCommands,
      completion: async () => {
        const { addCompletionCommand } = await import('./completion/completion-command.ts');
        return (program, context) => addCompletionCommand(program, () => addCommands(program, context));
      },
      'sample-data': async () => (await import('./sample-data/sample-data.ts')).addSampleDataCommand,
    },
  ],
];

/** What `main.ts` answers itself. */
const ANSWERED = ['serve', '--version', '-V'];

/**
 * Adds the command that is typed. If there is no such command, or it is added already, adds all, as help and suggestions
 * need them. To load only one takes half the time of all.
 */
export async function addCommands(program: Command, context: CommandContext, typed = ''): Promise<void> {
  if (ANSWERED.includes(typed)) return;
  const isTyped = COMMANDS.some(([, commands]) => Object.hasOwn(commands, typed));
  for (const [group, commands] of COMMANDS) {
    program.commandsGroup(group);
    for (const [name, load] of Object.entries(commands)) {
      const isAdded = program.commands.some((command) => command.name() === name);
      if (!isAdded && (!isTyped || name === typed)) (await load())(program, context);
    }
  }
}

import type { Command } from 'commander';
import { serviceUrlOf } from '../arguments.ts';
import { addCommand, type CommandContext } from '../command.ts';

/** `mcp`. An assistant's configuration names it, and it ends with the assistant. */
export function addMcpCommand(program: Command, context: CommandContext): void {
  addCommand(
    program,
    'mcp',
    'let an assistant read a service: a Model Context Protocol server on standard input and output',
  )
    .requiredOption(
      '--url <URL>',
      'address of the service; the key is read from DBVITALS_API_KEY',
      serviceUrlOf('--url'),
    )
    .action(async ({ url }: { url: string }) => {
      const apiKey = context.apiKey();
      const [{ serveStdio }, { createMcpServer }, { readByClient }] = await Promise.all([
        import('@modelcontextprotocol/server/stdio'),
        import('../../api/mcp/mcp-server.ts'),
        import('./read-by-client.ts'),
      ]);
      const read = readByClient(url, apiKey);
      // It ends when standard input ends.
      const serving = serveStdio(() => createMcpServer(read), {
        onerror: ({ message }) => process.stderr.write(`${message.replace(/\s+/g, ' ')}\n`),
      });
      for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => void serving.close());
    });
}

import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { type CallToolResult, Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { inject, onTestFinished } from 'vitest';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const CONFIGURATION = new URL('../../docs/integrations/assistants/mcp.json', import.meta.url);

/** An assistant's side of `dbvitals mcp`. */
export interface Assistant {
  client: Client;
  call(tool: string, given?: Record<string, unknown>): Promise<CallToolResult>;
  /** What the command said beside the protocol. */
  stderr(): string;
}

/** Starts what docs/integrations/assistants tells an assistant to start, by the protocol's own client; it ends with the test. */
export async function startAssistant(
  key: string,
  options: { origin?: string; protocol?: string } = {},
): Promise<Assistant> {
  const { origin = inject('origin'), protocol } = options;
  const configuration = readFileSync(CONFIGURATION, 'utf8')
    .replaceAll('/opt/dbvitals', CHECKOUT)
    .replace('https://dbvitals.example.com', origin)
    .replace('<API_KEY>', key);
  const { command, args, env } = JSON.parse(configuration).mcpServers.dbvitals;
  const transport = new StdioClientTransport({ command, args, env, cwd: tmpdir(), stderr: 'pipe' });
  let stderr = '';
  transport.stderr?.on('data', (bytes: Buffer) => {
    stderr += bytes;
  });
  const client = new Client(
    { name: 'contract-suite', version: '1' },
    protocol === undefined ? {} : { versionNegotiation: { mode: { pin: protocol } } },
  );
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    call: (name, given = {}) => client.callTool({ name, arguments: given }),
    stderr: () => stderr,
  };
}

/** The one text of a tool's result. */
export function textOf({ content }: CallToolResult): string {
  const [part] = content;
  if (part?.type !== 'text' || content.length !== 1) throw new Error('The result is not one text.');
  return part.text;
}

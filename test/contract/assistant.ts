import { readFileSync, rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { inject, onTestFinished } from 'vitest';
import { commandFolder } from './running-service.ts';

const CHECKOUT = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');
const CONFIGURATIONS = new URL('../../docs/integrations/assistants/', import.meta.url);

/** How an assistant reaches the service: by `dbvitals mcp`, or by `/mcp`. */
export const ROADS = ['stdio', 'http'] as const;

export type Road = (typeof ROADS)[number];

/** The `User-Agent` of the assistant by HTTP. */
export const HTTP_PRODUCT = 'suite/1';

/** An assistant's side. */
export interface Assistant {
  client: Client;
  call(tool: string, given?: Record<string, unknown>): Promise<CallToolResult>;
  /** What the command said beside the protocol. */
  stderr(): string;
}

/** Connects the protocol's own client by a road, until the test ends. */
export async function connectAssistant(
  road: Road,
  key: string,
  options: { origin?: string; protocol?: string } = {},
): Promise<Assistant> {
  if (road === 'stdio') return startAssistant(key, options);
  const { origin = inject('origin'), protocol } = options;
  const { url, headers } = readConfiguration('mcp-http.json', origin, key);
  const requestInit = { headers: { ...headers, 'user-agent': HTTP_PRODUCT } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  const client = newClient(protocol);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return { client, call: caller(client), stderr: () => '' };
}

/** Starts what docs/integrations/assistants tells an assistant to start, by the protocol's own client; it ends with the test. */
export async function startAssistant(
  key: string,
  options: { origin?: string; protocol?: string } = {},
): Promise<Assistant> {
  const { origin = inject('origin'), protocol } = options;
  const { command, args, env } = readConfiguration('mcp.json', origin, key);
  const folder = commandFolder();
  const transport = new StdioClientTransport({
    command,
    args,
    env: { ...env, HOME: folder },
    cwd: folder,
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (bytes: Buffer) => {
    stderr += bytes;
  });
  const client = newClient(protocol);
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    client,
    call: caller(client),
    stderr: () => stderr,
  };
}

function readConfiguration(file: string, origin: string, key: string) {
  const text = readFileSync(new URL(file, CONFIGURATIONS), 'utf8')
    .replaceAll('/opt/dbvitals', CHECKOUT)
    .replace('https://dbvitals.example.com', origin)
    .replace('<API_KEY>', key);
  return JSON.parse(text).mcpServers.dbvitals;
}

function newClient(protocol: string | undefined): Client {
  return new Client(
    { name: 'contract-suite', version: '1' },
    protocol === undefined ? {} : { versionNegotiation: { mode: { pin: protocol } } },
  );
}

function caller(client: Client): Assistant['call'] {
  return (name, given = {}) => client.callTool({ name, arguments: given });
}

/** The one text of a tool's result. */
export function textOf({ content }: CallToolResult): string {
  const [part] = content;
  if (part?.type !== 'text' || content.length !== 1) throw new Error('The result is not one text.');
  return part.text;
}

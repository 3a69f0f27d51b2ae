/** A message of an assistant, and the headers that the protocol uses. */
export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
}

/** The protocol's answer to a message; `body` is JSON, or empty. Or what is wrong with the message as a whole. */
export type MessageAnswer =
  | { readonly status: number; readonly body: string }
  | { readonly problem: 'not_json' | 'batch' };

/** What a tool call returns: the API's answer as JSON, or what the assistant is told about a failure. */
export type ToolResult = { readonly answer: string } | { readonly failure: string };

import { parseSync, Visitor } from 'oxc-parser';

/** The number of lines of each function that has more than `most`, the longest first. */
export function longFunctions(text: string, most: number): number[] {
  const lines: number[] = [];
  const measure = ({ start, end }: { start: number; end: number }) => {
    const count = text.slice(start, end).split('\n').length;
    if (count > most) lines.push(count);
  };
  const functions = {
    FunctionDeclaration: measure,
    FunctionExpression: measure,
    ArrowFunctionExpression: measure,
  };
  new Visitor(functions).visit(parseSync('a.ts', text).program);
  return lines.toSorted((a, b) => b - a);
}

/** The functions of more than 60 lines that are older than the limit, by file. They only get shorter. */
export const LONG_FUNCTIONS: Readonly<Record<string, readonly number[]>> = {
  'api/api-server.ts': [104],
  'api/serve-api.ts': [218, 70],
  'console-api/console.ts': [209],
  'http/edge/http-server.ts': [82],
  'http/edge/pipelining.ts': [105],
  'notifications/dispatch/start-dispatcher.ts': [101],
  'notifications/sending/send-in-child.ts': [105],
  'service/serve.ts': [139],
  'store/embedded.ts': [116],
};

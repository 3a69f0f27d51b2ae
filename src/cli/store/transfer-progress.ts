const REWRITTEN_MS = 100;

/** Where progress is shown: standard error. */
type Output = Pick<NodeJS.WriteStream, 'isTTY' | 'write'>;

/**
 * Shows in one line of the terminal how many bytes of a file were written or read, which `end` removes. Shows nothing if
 * standard error is not a terminal. `total` null = it is not known how many there will be.
 */
export function transferProgress(
  output: Output = process.stderr,
  now: () => number = Date.now,
): { step(what: string, bytes: number, total: number | null): void; end(): void } {
  if (!output.isTTY) return { step() {}, end() {} };
  const write = (text: string) => output.write(`\r\u001b[2K${text}`);
  let written = 0;
  return {
    step(what, bytes, total) {
      if (now() - written < REWRITTEN_MS) return;
      written = now();
      const share = total
        ? `${Math.floor((100 * bytes) / total)} % of ${megabytes(total)}`
        : megabytes(bytes);
      write(`${what}: ${share} …`);
    },
    end: () => {
      if (written > 0) write('');
    },
  };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

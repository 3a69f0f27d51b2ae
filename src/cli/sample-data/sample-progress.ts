/** Receives the progress of a step. */
export type SampleStep = (done: number, all: number) => void;

const WIDTH = 24;
const REWRITTEN_MS = 100;

/**
 * Shows the progress of sample data in one line of the terminal, which `end` removes. Shows nothing if standard error
 * is not a terminal.
 */
export function progressBar(): { step: (name: string) => SampleStep; end: () => void } {
  if (!process.stderr.isTTY) return { step: () => () => {}, end() {} };
  const write = (text: string) => process.stderr.write(`\r\u001b[2K${text}`);
  let written = 0;
  return {
    step: (name) => (done, all) => {
      if (done < all && Date.now() - written < REWRITTEN_MS) return;
      written = Date.now();
      const share = all === 0 ? 1 : done / all;
      const bar = '#'.repeat(Math.floor(share * WIDTH)).padEnd(WIDTH, '-');
      const count = (number: number) => number.toLocaleString('en-US');
      write(`${name.padEnd(13)} [${bar}] ${Math.floor(share * 100)} %, ${count(done)} of ${count(all)}`);
    },
    end: () => write(''),
  };
}

import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

/** The findings on schemas of real applications, which are downloaded: `npm run test:schemas`. */
export default defineConfig({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  test: { include: ['test/schemas/*.test.ts'], reporters: ['./test/support/report.ts'] },
});

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');

test('each form on a page has a place for what the service answers', () => {
  const forms = globSync('console/src/**/*.tsx', { cwd: ROOT })
    .filter((path) => !path.endsWith('parts/dialog.tsx'))
    .map((path) => ({ path, text: readFileSync(join(ROOT, path), 'utf8') }))
    .filter(({ text }) => text.includes('<form'));
  expect(forms.map(({ path }) => path)).toContain('console/src/parts/form.tsx');
  const without = forms.filter(({ text }) => {
    const inside = text.slice(text.indexOf('<form'), text.indexOf('</form>'));
    return inside.includes('<InlineError') || !text.includes('<FormError');
  });
  expect(
    without.map(({ path }) => path),
    'use Form of parts/form.tsx: an InlineError moves what follows',
  ).toEqual([]);
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readServiceAddress, recordServiceAddress } from './service-address.ts';

test('the address of a service is known while it runs, and nothing else is taken for one', () => {
  const folder = mkdtempSync(join(tmpdir(), 'dbvitals-address-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  expect(readServiceAddress(folder)).toBeNull();
  const forget = recordServiceAddress(folder, 'http://localhost:9123/db');
  expect(readServiceAddress(folder)).toBe('http://localhost:9123/db');
  forget();
  expect(readServiceAddress(folder)).toBeNull();
  for (const text of ['', 'nonsense', 'javascript:alert(1)']) {
    writeFileSync(join(folder, 'console-url'), text);
    expect(readServiceAddress(folder)).toBeNull();
  }
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { InvalidFile } from '../invalid-file.ts';
import { readOwnCheckFile } from './own-check-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'dbvitals-own-'));
const path = join(folder, 'own.yaml');
afterAll(() => rmSync(folder, { recursive: true }));

function read(text: string) {
  writeFileSync(path, text);
  return readOwnCheckFile(path);
}

const CHECK = `
  - id: ORDERS_STUCK
    title: Orders wait for payment
    engine: postgresql
    database: shop
    sql: select count(*) as value from orders
    unit: count
    operator: ">="
    warning: 10
    critical: 100
    remediation: Restart the payment worker, see runbook 12.
    every: 15m
    connections: { tags: [env:production, shop] }
`;

test('a file has own checks as apply has them', () => {
  expect(read(`checks:${CHECK}`)).toEqual([
    {
      id: 'ORDERS_STUCK',
      title: 'Orders wait for payment',
      engine: 'postgres',
      database: 'shop',
      sql: 'select count(*) as value from orders',
      unit: 'count',
      operator: '>=',
      warning: 10,
      critical: 100,
      remediation: 'Restart the payment worker, see runbook 12.',
      every: 900,
      timeout: 5,
      tags: ['env:production', 'shop'],
    },
  ]);
});

test('each problem has its place, and no value', () => {
  const problems = (text: string) => {
    try {
      read(text);
    } catch (error) {
      if (error instanceof InvalidFile) return error.problems.map((line) => line.replace(path, 'own.yaml'));
    }
    return [];
  };
  expect(problems(`checks:${CHECK}${CHECK}`)).toEqual([
    'own.yaml:15:5: checks[1].id: The list contains this twice: remove one.',
  ]);
  expect(problems(`checks:${CHECK.replace('select count', 'delete count')}`)).toEqual([
    'own.yaml:2:5: checks[0]: The statement must be a SELECT: it begins with DELETE.',
  ]);
  expect(problems(`checks:${CHECK.replace('15m', '5s').replace('">="', '"="')}`)).toEqual([
    'own.yaml:8:5: checks[0].operator: One of >=, <=.',
  ]);
  expect(problems('checks: [{ id: A, password: secret }]')).not.toContain('secret');
  expect(() => readOwnCheckFile(join(folder, 'nothing.yaml'))).toThrow('--own must name a readable file.');
});

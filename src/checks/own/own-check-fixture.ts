import type { OwnCheck } from './own-check.ts';

/** An own check of PostgreSQL; `given` overrides. */
export function ownCheck(given: Partial<OwnCheck> = {}): OwnCheck {
  return {
    id: 'ORDERS_STUCK',
    title: 'Orders wait for payment',
    engine: 'postgres',
    database: null,
    sql: 'select count(*) as value from orders',
    unit: 'count',
    operator: '>=',
    warning: 10,
    critical: 100,
    remediation: 'Restart the payment worker, see runbook 12.',
    every: null,
    timeout: 5,
    tags: [],
    ...given,
  };
}

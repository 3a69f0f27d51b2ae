import { findingId, type OwnCheck, toCheck } from '../../../checks/own/own-check.ts';
import { SAMPLE_CHECK } from '../../../connections/sample-marks.ts';
import type { ListedCheck } from '../../command.ts';
import type { SampleFault } from '../faults/sample-faults.ts';

/** The own check of the sample. It runs on the first connection, which has its tag. */
export const SAMPLE_OWN_CHECK: OwnCheck = {
  id: SAMPLE_CHECK,
  title: 'Orders wait for payment',
  engine: 'postgres',
  database: 'app',
  sql: "select count(*) as value from orders where state = 'waiting' and created_at < now() - interval '15 min'",
  unit: 'count',
  operator: '>=',
  warning: 10,
  critical: 100,
  remediation: 'Restart the payment worker, see runbook 12.',
  every: null,
  timeout: 5,
  tags: ['shop'],
};

/** As a run lists it. */
export const sampleOwnCheck: ListedCheck = toCheck(SAMPLE_OWN_CHECK);

/** The metric of its value. */
export const OWN_METRIC = 'orders_stuck_count';

const ordersStuck = (n: number) => 12 + (n % 60);

/** Its fault, as the check words it. */
export const OWN_FAULT: SampleFault = {
  checkId: findingId(SAMPLE_OWN_CHECK.id),
  severities: ['warning'],
  database: 'app',
  object: null,
  line: '{orders} (warning from 10, critical from 100).',
  numbers: (n) => ({ orders: ordersStuck(n) }),
  remediation: SAMPLE_OWN_CHECK.remediation,
  measured: {
    metric: OWN_METRIC,
    warning: 10,
    critical: 100,
    limit: 100,
    grows: true,
    value: ordersStuck,
  },
  isHarmless: true,
};

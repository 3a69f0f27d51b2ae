// A process that moves an account and kills itself at a step: `node killed-move-fixture.ts`, configured by DBVITALS_TEST_MOVE.

import type { StoreAddress } from '../../../config/store-url.ts';
import { openPool } from '../../connect.ts';
import { moveAccount } from './move-account.ts';

/** The settings of the process. */
export interface KilledMove {
  /** Of cell 1, which has the directory, and cell 2. */
  addresses: [StoreAddress, StoreAddress];
  accountId: number;
  toId: number;
  /** How the step begins, and which of those, from 1. */
  step: string;
  nth: number;
}

const { addresses, accountId, toId, step, nth }: KilledMove = JSON.parse(
  process.env['DBVITALS_TEST_MOVE'] ?? '',
);
const [one, two] = addresses;
const control = openPool(one, 'owner', { max: 1 });
let left = nth;
await moveAccount(
  {
    control,
    cellIds: [1, 2],
    addressOf: async (cellId) => (cellId === 1 ? one : two),
    step(text) {
      if (text.startsWith(step)) left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
    },
  },
  accountId,
  toId,
);
await control.end();

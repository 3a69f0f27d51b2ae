import { expect, test } from 'vitest';
import { DESTINATION, ForbiddenAddress, requireAllowed, resolveTarget } from './address.ts';

const problemOf = (address: string, allowPrivate: boolean, use = DESTINATION) => {
  try {
    requireAllowed('x', address, allowPrivate, use);
    return null;
  } catch (error) {
    if (error instanceof ForbiddenAddress) return error.message;
    throw error;
  }
};
const NEVER = 'x is a link-local or metadata address, which dbvitals never contacts';

test.each(['8.8.8.8', '2606:4700::1111', '64:ff9b::808:808', '::ffff:8.8.8.8'])('%s is public', (address) => {
  expect(problemOf(address, false)).toBeNull();
});

test.each([
  '127.0.0.1',
  '10.0.0.1',
  '100.64.0.1',
  '0.0.0.0',
  '255.255.255.255',
  '203.0.113.1',
  '::1',
  '::',
  'fd00::1',
  '::ffff:127.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '::ffff:0:7f00:1',
  // The IPv4 address is before the end: behind the local prefix of RFC 8215, a public suffix does not count.
  '64:ff9b:1:7f00:0:100:808:808',
])('%s is private', (address) => {
  expect(problemOf(address, true)).toBeNull();
  expect(problemOf(address, false)).toBe(
    'x is at a private address, to which dbvitals sends only if DBVITALS_ALLOW_PRIVATE_DESTINATIONS is yes',
  );
});

test.each([
  '169.254.169.254',
  '169.254.0.1',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  '100.100.100.200',
  '::ffff:169.254.169.254',
  '::169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1:a9fe:a9:fe00::',
  '64:ff9b:1:a9:fea9:fe00::',
  '2002:a9fe:a9fe::',
  '::ffff:0:a9fe:a9fe',
  '64:ff9b::6464:64c8',
])('%s is never allowed', (address) => {
  expect([problemOf(address, true), problemOf(address, false)]).toEqual([NEVER, NEVER]);
});

test('the sentence of a monitored database names its own setting', async () => {
  await expect(resolveTarget('127.0.0.1', false)).rejects.toThrow(
    '127.0.0.1 is at a private address, which dbvitals monitors only if DBVITALS_ALLOW_PRIVATE_TARGETS is yes',
  );
});

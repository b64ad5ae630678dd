import { expect, it } from '@jest/globals';
import { parseExactJson } from '@quittance/shared/exact-json';
import { units } from '@quittance/shared/money';
import { messagesOf } from '@quittance/shared/validation';
import { readPayoutPolicy } from './policy-order.ts';

const withApprovals = (approvals: number | null) =>
  readPayoutPolicy(
    parseExactJson(JSON.stringify({ limits: [{ asset: 'ETH', approval_above: 0, approvals }] })),
  );

it.each([
  [null, 1],
  [1, 1],
  [2, 2],
])('a policy that asks for %p approvals has payouts wait for %p', (given, needed) => {
  expect(withApprovals(given)).toMatchObject({
    ok: true,
    value: { limits: { ETH: { perPayout: null, perDay: null, approval: { above: units(0n), needed } } } },
  });
});

it.each([
  [0, 'The approvals must be at least 1.'],
  [3, 'The approvals must not be greater than 2.'],
])('a policy cannot ask for %p approvals', (given, message) => {
  const read = withApprovals(given);
  expect(read.ok ? {} : messagesOf(read.refusal)).toEqual({ 'limits.0.approvals': [message] });
});

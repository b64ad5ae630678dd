import { expect, test } from '@jest/globals';
import { limitsOf, policyFrom } from './policy-values.ts';

test('a policy comes out of its form as it went in, and an empty field is no limit', () => {
  const limits = [
    { asset: 'ETH', per_payout: '2', per_24h: null, approval_above: '0', approvals: 2 },
    { asset: 'BTC', per_payout: null, per_24h: '0.00000001', approval_above: null, approvals: null },
  ];
  expect(policyFrom({ allow_list: true, delay_hours: 24, limits: limits.map(limitsOf) })).toEqual({
    allow_list: true,
    delay_hours: 24,
    limits,
  });
});

test('0 is a limit, and spaces are none', () => {
  const [limit] = policyFrom({
    allow_list: false,
    delay_hours: 0,
    limits: [{ ...limitsOf({ asset: 'ETH' }), per_payout: ' ', approval_above: ' 0 ' }],
  }).limits;
  expect(limit).toMatchObject({ per_payout: null, approval_above: '0', approvals: 1 });
});

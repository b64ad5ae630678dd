import { expect, test } from '@jest/globals';
import { policyNotes } from './policy-notes.ts';

const now = Date.parse('2026-11-25T12:00:00Z');
const wanted = { asset: 'ETH', amount: '1', address: '0xa' };
const limit = {
  asset: 'ETH',
  per_payout: null,
  per_24h: null,
  approval_above: null,
  approvals: null,
} as const;
const policy = (limits: object[], isListed = false) =>
  ({ allow_list: isListed, limits }) as unknown as Parameters<typeof policyNotes>[0];
const kinds = (...given: Parameters<typeof policyNotes>) => policyNotes(...given).map(({ kind }) => kind);

test('a policy without limits says nothing of a payout', () => {
  expect(policyNotes(policy([]), [], wanted, 'ethereum', now)).toEqual([]);
  expect(
    policyNotes(policy([{ ...limit, asset: 'BTC', per_payout: '0.1' }]), [], wanted, 'ethereum', now),
  ).toEqual([]);
});

test('an allow-list refuses an address that is missing, on another network, or not usable yet', () => {
  const entry = { address: '0xa', chain: 'ethereum', usable_at: '2026-11-25T11:00:00Z' } as const;
  const listed = policy([], true);
  expect(kinds(listed, [entry], wanted, 'ethereum', now)).toEqual([]);
  const inCapitals = { ...wanted, address: '0xA' };
  expect(kinds(listed, [entry], inCapitals, 'ethereum', now)).toEqual([]);
  expect(kinds(listed, [], wanted, 'ethereum', now)).toEqual(['refused']);
  expect(kinds(listed, [{ ...entry, chain: 'base' }], wanted, 'ethereum', now)).toEqual(['refused']);
  const later = { ...entry, usable_at: '2026-11-25T12:00:01Z' };
  expect(kinds(listed, [later], wanted, 'ethereum', now)).toEqual(['refused']);
  expect(kinds(listed, undefined, wanted, 'ethereum', now)).toEqual([]);
});

test('a payout is refused above its limit and not at it', () => {
  const most = (amount: string) => policy([{ ...limit, per_payout: amount }]);
  expect(kinds(most('1.0'), [], wanted, 'ethereum', now)).toEqual([]);
  expect(kinds(most('0.999999999999999999'), [], wanted, 'ethereum', now)).toEqual(['refused']);
  expect(kinds(policy([{ ...limit, per_24h: '0.5' }]), [], wanted, 'ethereum', now)).toEqual(['refused']);
  expect(kinds(policy([{ ...limit, per_24h: '5' }]), [], wanted, 'ethereum', now)).toEqual(['limited']);
});

test('a payout above the threshold of approvals waits for as many as the policy names', () => {
  const notes = policyNotes(
    policy([{ ...limit, approval_above: '0', approvals: 2 }]),
    [],
    wanted,
    'ethereum',
    now,
  );
  expect(notes).toEqual([
    { kind: 'waits', text: 'It is above 0 ETH, so it waits until 2 others have approved it.' },
  ]);
  const refusing = policy([{ ...limit, per_payout: '0.5', approval_above: '0', approvals: 1 }]);
  expect(kinds(refusing, [], wanted, 'ethereum', now)).toEqual(['refused']);
});

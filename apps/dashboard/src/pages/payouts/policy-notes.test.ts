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
type Given = Parameters<typeof policyNotes>;
const policy = (limits: object[], isListed = false) =>
  ({ allow_list: isListed, limits }) as unknown as Given[0];
const notes = (given: Given[0], entries: Given[1], payout = wanted) =>
  policyNotes(given, entries, payout, 'ethereum', now);
const kinds = (...given: Parameters<typeof notes>) => notes(...given).map(({ kind }) => kind);

test('a policy without limits says nothing of a payout', () => {
  expect(notes(policy([]), [])).toEqual([]);
  expect(notes(policy([{ ...limit, asset: 'BTC', per_payout: '0.1' }]), [])).toEqual([]);
});

test('an allow-list refuses an address that is missing, on another network, or not usable yet', () => {
  const entry = { address: '0xa', chain: 'ethereum', usable_at: '2026-11-25T11:00:00Z' } as const;
  const listed = policy([], true);
  expect(kinds(listed, [entry])).toEqual([]);
  const inCapitals = { ...wanted, address: '0xA' };
  expect(kinds(listed, [entry], inCapitals)).toEqual([]);
  expect(kinds(listed, [])).toEqual(['refused']);
  expect(kinds(listed, [{ ...entry, chain: 'base' }])).toEqual(['refused']);
  const later = { ...entry, usable_at: '2026-11-25T12:00:01Z' };
  expect(kinds(listed, [later])).toEqual(['refused']);
  expect(kinds(listed, undefined)).toEqual([]);
});

test('a payout is refused above its limit and not at it', () => {
  const most = (amount: string) => policy([{ ...limit, per_payout: amount }]);
  expect(kinds(most('1.0'), [])).toEqual([]);
  expect(kinds(most('0.999999999999999999'), [])).toEqual(['refused']);
  expect(kinds(policy([{ ...limit, per_24h: '0.5' }]), [])).toEqual(['refused']);
  expect(kinds(policy([{ ...limit, per_24h: '5' }]), [])).toEqual(['limited']);
});

test('a payout above the threshold of approvals waits for as many as the policy names', () => {
  expect(notes(policy([{ ...limit, approval_above: '0', approvals: 2 }]), [])).toEqual([
    { kind: 'waits', text: 'It is above 0 ETH, so it waits until 2 others have approved it.' },
  ]);
  const refusing = policy([{ ...limit, per_payout: '0.5', approval_above: '0', approvals: 1 }]);
  expect(kinds(refusing, [])).toEqual(['refused']);
});

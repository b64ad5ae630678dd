import { expect, it } from '@jest/globals';
import { merchantSuite } from './merchant-at.ts';

/** The commands for the payout policy, at an API that answers what a test wants. */

const { api, answers, quittance } = await merchantSuite();

const eth = { asset: 'ETH', per_payout: '2', per_24h: null, approval_above: '0.5', approvals: 1 };
const none = { allow_list: false, delay_hours: 0, limits: [], next: null, updated_at: null };
const policy = { ...none, delay_hours: 48, limits: [eth], updated_at: '2026-11-25T09:30:00.000Z' };
const put = () => JSON.parse(api.received.findLast(({ method }) => method === 'PUT')?.body ?? '{}');

it('shows the policy, and what takes its place later', async () => {
  const next = { allow_list: false, delay_hours: 0, limits: [], takes_effect_at: '2026-11-27T09:30:00.000Z' };
  answers['GET /api/payout-policy'] = { ...policy, next };
  const { out } = await quittance(['policy', 'show']);
  expect(out).toMatch(/^ETH +2 +none +0\.5 +1$/m);
  expect(out).toMatch(/^delay +48 hours$/m);
  expect(out).toMatch(/^From 2026-11-27T09:30:00\.000Z on:$/m);
});

it('replaces the limits of one asset and leaves the rest of the policy', async () => {
  answers['GET /api/payout-policy'] = policy;
  answers['PUT /api/payout-policy'] = { data: policy };
  const limits = ['--per-payout', '1', '--per-24h', '3', '--approval-above', '0', '--approvals', '2'];
  expect((await quittance(['policy', 'limit', 'BTC', ...limits])).code).toBe(0);
  const btc = { asset: 'BTC', per_payout: '1', per_24h: '3', approval_above: '0', approvals: '2' };
  expect(put()).toEqual({ allow_list: false, delay_hours: 48, limits: [eth, btc] });
  await quittance(['policy', 'limit', 'ETH', '--per-24h', '9']);
  expect(put().limits).toEqual([{ asset: 'ETH', per_24h: '9' }]);
  await quittance(['policy', 'limit', 'ETH']);
  expect(put()).toEqual({ allow_list: false, delay_hours: 48, limits: [] });
});

it('changes what waits to take effect, and leaves the delay of a first policy to the API', async () => {
  answers['GET /api/payout-policy'] = {
    ...policy,
    next: { ...policy, limits: [], takes_effect_at: 'later' },
  };
  answers['PUT /api/payout-policy'] = { data: policy };
  await quittance(['policy', 'set', '--allow-list', 'on']);
  expect(put()).toEqual({ allow_list: true, delay_hours: 48, limits: [] });
  answers['GET /api/payout-policy'] = none;
  await quittance(['policy', 'set', '--allow-list', 'on']);
  expect(put()).toEqual({ allow_list: true, limits: [] });
});

it('adds, lists and deletes addresses', async () => {
  const entry = { id: 'adr_1', chain: 'ethereum', address: '0x1', label: 'Anna', usable_at: 'tomorrow' };
  answers['POST /api/address-book'] = { data: entry };
  answers['GET /api/address-book'] = { data: [entry], meta: { last_page: 1 }, links: { next: null } };
  answers['DELETE /api/address-book/adr_1'] = { status: 200 };
  const added = await quittance(['policy', 'add-address', 'ethereum', '0x1', 'Anna']);
  expect(added.out).toMatch(/^usable_from +tomorrow$/m);
  expect((await quittance(['policy', 'addresses'])).out).toMatch(/^adr_1 +Anna +ethereum +0x1 +tomorrow$/m);
  expect((await quittance(['policy', 'delete-address', 'adr_1'])).out).toBe('The address is deleted.\n');
});

it.each(['approve', 'reject'])('has a payout that waits: %s', async (decision) => {
  const approval = { status: 'waiting', needed: 2, given: [{ decision: 'approved' }] };
  const asset = { id: 2, symbol: 'ETH', name: 'Ethereum', decimals: 18 };
  const payout = { id: 7, asset, amount: '1', network_fee: '0.1', to_address: '0x1', approval };
  answers[`POST /api/payouts/7/${decision}`] = { data: payout };
  expect((await quittance(['payouts', decision, '7'])).out).toMatch(
    /^approval +waiting, approved by 1 of 2$/m,
  );
  answers['GET /api/payouts'] = { data: [payout], meta: { last_page: 1 }, links: { next: null } };
  await quittance(['payouts', 'list', '--waiting']);
  expect(api.received.at(-1)?.path).toBe('/api/payouts?perPage=20&approval=waiting');
});

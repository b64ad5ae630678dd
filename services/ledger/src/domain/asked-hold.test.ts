import { describe, expect, it, test } from '@jest/globals';
import { verifyProof } from '@quittance/shared/identity';
import type { AccountId } from '@quittance/shared/ids';
import { units } from '@quittance/shared/money';
import { invariant } from '@quittance/shared/result';
import { foreignKeys, gatewayPublicKeys, identityOf, requestProofOf } from '@quittance/testkit/api';
import { wantedBy } from '../wanted-hold.ts';
import { checkHold, type HoldToProve } from './asked-hold.ts';

const account = 'acc_1' as AccountId;
const now = new Date('2026-01-02T03:04:05.000Z');
const later = (ms: number) => new Date(now.getTime() + ms);
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const address = `0x${'ab'.repeat(20)}`;
const PAYOUTS = '/api/payouts';
const BATCHES = '/api/payout-batches';

const aHold = (other: Partial<HoldToProve> = {}): HoldToProve => ({
  ...{ account, asset: 'ETH', amount: units(15n * 10n ** 17n), networkFee: units(7n) },
  ...{ takesAll: false, destination: address, deposit: null, invoice: null, item: 0 },
  ...other,
});

type Sent = { path?: string; method?: string; body: object | string; at?: Date };
/** What the ledger finds of a hold for which payouts shows this request. */
function checked(sent: Sent, hold: Partial<HoldToProve> = {}, checkedAt = now) {
  const { path = PAYOUTS, method = 'POST', body, at = now } = sent;
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const proof = requestProofOf(account, { method, path, body: text, receiver: 'payouts', now: at });
  const request = verifyProof(gatewayPublicKeys, 'payouts', proof);
  invariant(request !== undefined, 'the assertion is right');
  const found = checkHold({ request, wants: wantedBy(request) }, aHold(hold), checkedAt);
  return found.ok ? { use: found.value.use, receivedAtMost: found.value.receivedAtMost } : found.refusal;
}
const isOnce = { use: 'once', receivedAtMost: false };

const payout = { asset: 'ETH', amount: '1.5', address };

describe('a hold for a payout', () => {
  it.each<[string, object | string]>([
    ['text', payout],
    ['a number', `{"asset":"ETH","amount":1.5000,"address":"${address}"}`],
    ['an address in capitals', { ...payout, address: `0x${'AB'.repeat(20)}` }],
    ['notes and spaces', { ...payout, amount: ' 1.5 ', address: ` ${address} `, external_id: 'order 1' }],
  ])('is what its request asks for with %s', (_what, body) => {
    expect(checked({ body })).toEqual(isOnce);
  });

  it.each<[string, Partial<HoldToProve>, string]>([
    ['another account', { account: 'acc_2' as AccountId }, 'other_account'],
    ['another asset', { asset: 'USDC_ERC20' }, 'other_asset'],
    ['more', { amount: units(15n * 10n ** 17n + 1n) }, 'other_amount'],
    ['less', { amount: units(1n) }, 'other_amount'],
    ['all', { takesAll: true }, 'other_amount'],
    ['another address', { destination: `0x${'ac'.repeat(20)}` }, 'other_destination'],
    ['no address', { destination: '' }, 'other_destination'],
    ['the money of a deposit', { deposit: 'dep_1' }, 'other_deposit'],
    ['the refund of an invoice', { invoice: 'inv_1' }, 'other_invoice'],
    ['a line of a batch', { item: 1 }, 'no_such_line'],
  ])('is not what its request asks for when it is for %s', (_what, lie, problem) => {
    expect(checked({ body: payout }, lie)).toBe(problem);
  });

  it('of all that the balance has is asked for by "max" alone', () => {
    const max = { ...payout, amount: 'max' };
    expect(checked({ body: max }, { takesAll: true, amount: units(1n) })).toEqual(isOnce);
    expect(checked({ body: max }, { amount: units(1n) })).toBe('other_amount');
  });

  it.each<[string, Sent]>([
    ['a cancellation', { path: '/api/payouts/7/cancel', body: {} }],
    ['a quote', { path: '/api/payouts/quote', method: 'GET', body: payout }],
    ['another method', { method: 'PUT', body: payout }],
    ['another path', { path: '/api/payouts-of-others', body: payout }],
    ['no body', { body: '' }],
    ['no JSON', { body: '{"asset":' }],
    ['no address', { body: { asset: 'ETH', amount: '1.5' } }],
    ['an unknown asset', { body: { ...payout, asset: 'DOGE' } }],
  ])('is not asked for by a request of %s', (_what, sent) => {
    expect(checked(sent)).toBe('other_operation');
  });

  it('is asked for by a request of the last five minutes', () => {
    expect(checked({ body: payout }, {}, later(5 * MINUTE_MS))).toEqual(isOnce);
    expect(checked({ body: payout }, {}, later(5 * MINUTE_MS + 1))).toBe('too_old');
    expect(checked({ body: payout }, {}, later(-MINUTE_MS))).toEqual(isOnce);
  });

  it('goes to no text in other letters that is not an address', () => {
    const written = { ...payout, address: 'SHOP.EXAMPLE' };
    expect(checked({ body: written }, { destination: 'shop.example' })).toBe('other_destination');
  });

  it('has an address whose letters count where the network tells capitals from small letters', () => {
    const segwit = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
    const bitcoin = (written: string, destination: string) =>
      checked(
        { body: { asset: 'BTC', amount: '1', address: written } },
        { asset: 'BTC', amount: units(10n ** 8n), destination },
      );
    expect(bitcoin(segwit.toUpperCase(), segwit)).toEqual(isOnce);
    const base58 = '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2';
    expect(bitcoin(base58, base58)).toEqual(isOnce);
    expect(bitcoin(base58.toUpperCase(), base58)).toBe('other_destination');
    expect(bitcoin(base58, base58.toLowerCase())).toBe('other_destination');
    expect(bitcoin(segwit, `${segwit.slice(0, -1)}q`)).toBe('other_destination');
    const solana = 'So11111111111111111111111111111111111111112';
    const of = (destination: string) =>
      checked(
        { body: { asset: 'SOL', amount: '1', address: solana } },
        { asset: 'SOL', amount: units(10n ** 9n), destination },
      );
    expect(of(solana)).toEqual(isOnce);
    expect(of(solana.toLowerCase())).toBe('other_destination');
  });
});

describe('a hold for a line of a batch', () => {
  const second = { ...payout, amount: '2', address: `0x${'cd'.repeat(20)}` };
  const json = { mode: 'each', payouts: [payout, second, { ...payout, amount: 'max' }] };
  const csv = `asset,amount,address\nETH,1.5,${address}\n\nETH,2,${second.address}\n`;
  const ofSecond = { amount: units(2n * 10n ** 18n), destination: second.address };

  it.each<[string, Sent, number, number]>([
    ['a list', { path: BATCHES, body: json }, 1, 2],
    ['a file', { path: `${BATCHES}?mode=each`, body: csv }, 2, 4],
  ])('is asked for at its place in %s, and nowhere else', (_what, sent, first, other) => {
    expect(checked(sent, { item: first })).toEqual(isOnce);
    expect(checked(sent, { ...ofSecond, item: other })).toEqual(isOnce);
    expect(checked(sent, { ...ofSecond, item: first })).toBe('other_amount');
    expect(checked(sent, { item: other })).toBe('other_amount');
    expect(checked(sent, { item: 0 })).toBe('no_such_line');
    expect(checked(sent, { item: 99 })).toBe('no_such_line');
  });

  it('never takes all', () => {
    expect(checked({ path: BATCHES, body: json }, { item: 3, takesAll: true })).toBe('no_such_line');
  });
});

describe('a hold for a return of unresolved funds', () => {
  const path = '/api/unresolved/dep_1/return';
  const ofDeposit = { deposit: 'dep_1' };

  it('takes of this deposit, and with the fee as much as was asked for', () => {
    expect(checked({ path, body: { address } }, ofDeposit)).toEqual(isOnce);
    expect(checked({ path, body: { address } }, { deposit: 'dep_2' })).toBe('other_deposit');
    expect(checked({ path, body: { address } })).toBe('other_deposit');
    const part = { path, body: { address, amount: '1.500000000000000007' } };
    expect(checked(part, ofDeposit)).toEqual(isOnce);
    expect(checked(part, { ...ofDeposit, networkFee: units(8n) })).toBe('other_amount');
    expect(checked(part, { ...ofDeposit, takesAll: true })).toBe('other_amount');
    expect(checked({ path, body: { address: `0x${'1'.repeat(40)}` } }, ofDeposit)).toBe('other_destination');
  });

  it('by a claim link goes to any address, as long as the link is valid', () => {
    const link = { path, body: { claim: true, expires_in_days: 2 } };
    const isLink = { use: 'link', receivedAtMost: false };
    expect(checked(link, { ...ofDeposit, destination: `0x${'1'.repeat(40)}` })).toEqual(isLink);
    expect(checked(link, ofDeposit, later(2 * DAY_MS))).toEqual(isLink);
    expect(checked(link, ofDeposit, later(2 * DAY_MS + 6 * MINUTE_MS))).toBe('too_old');
    const end = 30 * DAY_MS + 5 * MINUTE_MS;
    expect(checked({ path, body: { claim: true } }, ofDeposit, later(end))).toEqual(isLink);
    expect(checked({ path, body: { claim: true } }, ofDeposit, later(end + 1))).toBe('too_old');
  });
});

describe('a hold for a refund of an invoice', () => {
  const path = '/api/invoices/inv_1/refunds';
  const ofInvoice = { invoice: 'inv_1' };

  it('is of this invoice and goes to the address of its request', () => {
    const body = { amount: 'all', address };
    expect(checked({ path, body }, ofInvoice)).toEqual({ use: 'once', receivedAtMost: true });
    expect(checked({ path, body }, { invoice: 'inv_2' })).toBe('other_invoice');
    expect(checked({ path, body })).toBe('other_invoice');
    const other = { ...ofInvoice, destination: `0x${'1'.repeat(40)}` };
    expect(checked({ path, body }, other)).toBe('other_destination');
    expect(checked({ path: `${path}/`, body: { ...body, rate: 'now' } }, ofInvoice)).toEqual(isOnce);
  });

  it('goes to any address when it is claimed by a link', () => {
    const other = { ...ofInvoice, destination: `0x${'1'.repeat(40)}` };
    expect(checked({ path, body: { amount: 'all' } }, other)).toEqual({ use: 'link', receivedAtMost: true });
  });
});

describe('a hold for an automatic payout', () => {
  const rule = { address, schedule: 'threshold', threshold: '1' };
  const put = (body: object, asset = 'ETH') =>
    ({ method: 'PUT', path: `/api/automatic-payouts/${asset}`, body }) as const;
  const isRule = { use: 'rule', receivedAtMost: false };

  it('is asked for by the rule at any time, of its asset, to its address, from its threshold on', () => {
    expect(checked(put(rule), { takesAll: true }, later(1_000 * DAY_MS))).toEqual(isRule);
    expect(checked(put(rule))).toEqual(isRule);
    expect(checked(put(rule), { asset: 'ETH_BASE' })).toBe('other_asset');
    expect(checked(put(rule), { amount: units(10n ** 18n) })).toEqual(isRule);
    expect(checked(put(rule), { amount: units(10n ** 18n - 1n) })).toBe('other_amount');
    expect(checked(put(rule), { destination: `0x${'1'.repeat(40)}` })).toBe('other_destination');
  });

  it('is asked for of any amount by a rule without a threshold', () => {
    const daily = put({ address, schedule: 'daily' });
    expect(checked(daily, { amount: units(1n) })).toEqual(isRule);
    expect(checked(daily, { amount: units(1n), takesAll: true })).toEqual(isRule);
  });

  it('is not asked for by a rule that is disabled', () => {
    expect(checked(put({ ...rule, enabled: false }), { takesAll: true })).toBe('other_operation');
  });
});

describe('a request', () => {
  const asserted = { method: 'POST', path: PAYOUTS, body: JSON.stringify(payout), now };
  const proof = requestProofOf(account, asserted);
  const verified = (other: object) => verifyProof(gatewayPublicKeys, 'payouts', { ...proof, ...other });

  test('that was changed, is to another service or signed by another key shows nothing', () => {
    expect(verified({})).toMatchObject({ account, path: PAYOUTS });
    const forged = identityOf(account, { ...asserted, privateKey: foreignKeys.privateKey });
    const toLedger = identityOf(account, { ...asserted, receiver: 'ledger' });
    const other = requestProofOf(account, { ...asserted, body: '{}' }).assertion;
    const signatureOfOther = other.slice(other.lastIndexOf('.'));
    const claims = proof.assertion.slice(0, proof.assertion.lastIndexOf('.'));
    for (const lie of [
      { assertion: claims + signatureOfOther },
      { body: Buffer.from(JSON.stringify({ ...payout, amount: '15' })) },
      { path: BATCHES },
      { method: 'PUT' },
      { assertion: Object.values(forged)[0] },
      { assertion: Object.values(toLedger)[0] },
      { assertion: 'v1.a.b.c' },
    ]) {
      expect(verified(lie)).toBeUndefined();
    }
  });
});

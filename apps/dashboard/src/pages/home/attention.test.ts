import { expect, test } from '@jest/globals';
import type { AutomaticPayout, HaltedAsset, Refund, Webhook } from '@quittance/client';
import { attentionOf } from './attention.ts';

const ids = (sources: Parameters<typeof attentionOf>[0]) => attentionOf(sources).map(({ id }) => id);

test('an account in which all is well needs no attention, nor does one of which nothing may be read', () => {
  expect(ids({})).toEqual([]);
  const webhooks = [
    { enabled: true, failing_since: null },
    { enabled: false, failing_since: null },
  ] as Webhook[];
  const claimableRefunds = [{ unfunded_since: null }] as Refund[];
  const automaticPayouts = [
    { enabled: true, last_error: null },
    { enabled: false, last_error: 'cancelled' },
  ] as AutomaticPayout[];
  expect(
    ids({ openFunds: 0, waitingPayouts: 0, webhooks, claimableRefunds, automaticPayouts, haltedAssets: [] }),
  ).toEqual([]);
});

test('what stops money comes before what waits', () => {
  const since = '2026-01-02T03:04:05.000Z';
  expect(
    ids({
      haltedAssets: [{ asset: { symbol: 'BTC', name: 'Bitcoin' } }] as HaltedAsset[],
      openFunds: 1,
      waitingPayouts: 2,
      webhooks: [
        { enabled: true, failing_since: since },
        { enabled: false, failing_since: since },
      ] as Webhook[],
      claimableRefunds: [{ unfunded_since: since }] as Refund[],
      automaticPayouts: [{ enabled: true, last_error: 'unavailable' }] as AutomaticPayout[],
    }),
  ).toEqual([
    'halted-assets',
    'refunds',
    'stopped-webhooks',
    'failing-webhooks',
    'automatic-payouts',
    'payouts',
    'unresolved',
  ]);
});

test('the number is said when there are several', () => {
  expect(attentionOf({ waitingPayouts: 1 })[0]?.text).toBe('A payout waits for approval');
  expect(attentionOf({ waitingPayouts: 12 })[0]?.text).toBe('12 payouts wait for approval');
});

test('each halted asset is named', () => {
  const halted = [
    { asset: { symbol: 'BTC', name: 'Bitcoin' } },
    { asset: { symbol: 'USDC_ERC20', name: 'USD Coin (ERC-20)' } },
  ] as HaltedAsset[];
  expect(attentionOf({ haltedAssets: halted })[0]?.text).toBe(
    'Payouts of Bitcoin, USD Coin (ERC-20) are halted by the operator',
  );
});

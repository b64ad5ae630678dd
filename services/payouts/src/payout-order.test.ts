import { describe, expect, it } from '@jest/globals';
import { checkAddress } from '@quittance/chains/evm/wallet';
import { checkAddress as checkOn } from '@quittance/chains/registry';
import type { ChainSettings } from '@quittance/chains/settings';
import type { AssetSymbol, Chain } from '@quittance/shared/assets';
import { parseExactJson } from '@quittance/shared/exact-json';
import { Unavailable } from '@quittance/shared/http';
import { units } from '@quittance/shared/money';
import type { Quote } from '@quittance/shared/quotes';
import { messagesOf } from '@quittance/shared/validation';
import { aQuote } from '@quittance/testkit/builders';
import { amountWithin } from './amount-within.ts';
import { checkRecipient, type PayableChain, readPayoutOrder } from './payout-order.ts';

const quoteOf = (asset: AssetSymbol, given: Partial<Quote> = {}): Quote =>
  aQuote({
    asset,
    active: asset === 'ETH' || asset === 'USDC_ERC20',
    min_confirmations: 12,
    dust: asset === 'ETH' ? '10000000000000' : '10000',
    ...given,
  });
const board = {
  latest: (asset: AssetSymbol) => quoteOf(asset),
  fresh: (asset: AssetSymbol) => quoteOf(asset),
};
const stale = { ...board, fresh: () => undefined };
const silent = { latest: () => undefined, fresh: () => undefined };

/** Only Ethereum is configured. */
const hotAddress = '0x70997970C51812dc3A010C7d01b50e0d17dc79C8';
const ethereum: PayableChain = {
  kind: 'evm',
  assets: ['ETH', 'USDC_ERC20'],
  checkAddress,
  sender: { hotAddress },
};
const chains = new Map<Chain, PayableChain>([['ethereum', ethereum]]);

const address = '0x52908400098527886E0F7030069857D2E4169EE7';
const body = (fields: string): unknown => parseExactJson(`{${fields}}`);
const order = (asset: string, amount: string, to = address) =>
  readPayoutOrder(body(`"asset":"${asset}","amount":${amount},"address":"${to}"`), { quotes: board, chains });

describe('the body of a new payout', () => {
  it('is read exactly, with the current fee and confirmations', () => {
    expect(order('ETH', '1.000000000000000001')).toEqual({
      ok: true,
      value: {
        asset: 'ETH',
        amount: 1_000_000_000_000_000_001n,
        address: address.toLowerCase(),
        networkFee: 500_000_000_000_000n,
        minConfirmations: 12,
        takesAll: false,
        usdRate: '2500',
        externalId: null,
        metadata: {},
      },
    });
    expect(order('ETH', '"max"')).toMatchObject({ ok: true, value: { amount: 10n ** 13n, takesAll: true } });
    expect(order('USDC_ERC20', '"0.010000"')).toMatchObject({ ok: true, value: { amount: 10_000n } });
  });

  const required = (field: string) => ({ [field]: [`The ${field} field is required.`] });
  const noAsset = { asset: ['The selected asset is invalid.'] };
  it.each([
    ['', { ...required('asset'), ...required('amount'), ...required('address') }],
    [
      `"asset":"DOGE","amount":"x","address":1`,
      {
        ...noAsset,
        amount: ['The amount must be a number.'],
        address: ['The address must be a string.'],
      },
    ],
    [`"asset":"BTC","amount":1,"address":"${address}"`, noAsset],
    [`"asset":"SOL","amount":-1,"address":"x"`, { ...noAsset, amount: ['The amount must be at least 0.'] }],
    [
      `"amount":-0.0001`,
      { ...required('asset'), amount: ['The amount must be at least 0.'], ...required('address') },
    ],
    [`"asset":"NOPE","amount":-0,"address":"x"`, noAsset],
    [
      `"asset":"ETH","amount":0,"address":"x"`,
      { amount: ['The amount must be at least 0.00001.'], address: ['The selected address is invalid.'] },
    ],
    [
      `"asset":"ETH","amount":1,"address":"${address}","external_id":"${'x'.repeat(256)}","metadata":{"a":1}`,
      {
        external_id: ['The external id must not be greater than 255 characters.'],
        'metadata.a': ['The metadata.a must be a string.'],
      },
    ],
    [
      `"asset":"ETH","amount":1,"address":"${'0'.repeat(256)}"`,
      { address: ['The address must not be greater than 255 characters.'] },
    ],
  ])('with %s has errors', (fields, errors) => {
    const answer = readPayoutOrder(body(fields), { quotes: board, chains });
    expect(answer.ok ? {} : messagesOf(answer.refusal)).toEqual(errors);
  });

  const tooSmall = 'must be at least 0.00001.';
  const tooPrecise = (decimals: number) => `must not have more than ${decimals} decimal places.`;
  it.each([
    ['ETH', '-0', [tooSmall]],
    ['ETH', '1e-6', [tooSmall]],
    ['ETH', '1e-19', [tooSmall, tooPrecise(18)]],
    ['ETH', '-1e70', [tooSmall]],
    ['ETH', '1e70', [`must not be greater than 1${'0'.repeat(57)}.`]],
    ['ETH', '1e400', ['must be a number.']],
    ['ETH', 'true', ['must be a number.']],
    ['ETH', '[1]', ['must be a number.']],
    ['USDC_ERC20', '0.0099999', ['must be at least 0.01.', tooPrecise(6)]],
    ['USDC_ERC20', '1.0000001', [tooPrecise(6)]],
  ])('of %s with the amount %s has errors', (asset, amount, errors) => {
    const answer = order(asset, amount);
    const expected = { amount: errors.map((error) => `The amount ${error}`) };
    expect(answer.ok ? {} : messagesOf(answer.refusal)).toEqual(expected);
  });

  it('has its errors in the order of the form', () => {
    const orders = ['"asset":"BTC","amount":"x"', '"asset":"NOPE","amount":-5', '"asset":"ETH","amount":0'];
    for (const fields of orders) {
      const answer = readPayoutOrder(body(`"address":7,${fields}`), { quotes: board, chains });
      const errors = answer.ok ? {} : answer.refusal;
      const named = ['asset', 'amount', 'address'].filter((field) => field in errors);
      expect(Object.keys(errors)).toEqual(named);
    }
  });

  it('that is not an object counts as empty', () => {
    for (const input of [undefined, null, [], 'ETH', 7]) {
      expect(readPayoutOrder(input, { quotes: board, chains })).toMatchObject({
        ok: false,
        refusal: { asset: expect.anything() },
      });
    }
  });

  it('without a fresh quote is refused, and errors of its fields are still listed', () => {
    const right = body(`"asset":"ETH","amount":1,"address":"${address}"`);
    expect(() => readPayoutOrder(right, { quotes: stale, chains })).toThrow(Unavailable);
    expect(() => readPayoutOrder(right, { quotes: silent, chains })).toThrow(Unavailable);
    const wrong = body(`"asset":"ETH","amount":0,"address":"${address}"`);
    expect(readPayoutOrder(wrong, { quotes: stale, chains })).toMatchObject({ ok: false });
    expect(readPayoutOrder(wrong, { quotes: silent, chains })).toMatchObject({ ok: false });
  });
});

describe('a recipient', () => {
  const settingsOf = {
    bitcoin: { kind: 'bitcoin', chain: 'bitcoin', rpcUrls: [], network: 'mainnet' },
    testnet: { kind: 'bitcoin', chain: 'bitcoin', rpcUrls: [], network: 'testnet' },
    regtest: { kind: 'bitcoin', chain: 'bitcoin', rpcUrls: [], network: 'regtest' },
    ethereum: { kind: 'evm', chain: 'ethereum', rpcUrls: [], chainId: 1 },
    solana: { kind: 'solana', chain: 'solana', rpcUrls: [], network: 'mainnet' },
  } as const satisfies Record<string, ChainSettings>;
  const p2wpkh = 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq';
  const owner = '7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU';
  const hotOf = {
    bitcoin: 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4',
    testnet: 'tb1qar0srrr7xfkvy5l643lydnw9re59gtzzl3mpd2',
    regtest: 'bcrt1qar0srrr7xfkvy5l643lydnw9re59gtzzdq3p2y',
    ethereum: hotAddress,
    solana: '9WzDXwBbmkg8ZTbNMqUxvQRAyrZzDsGYdLVL9zYtAWWM',
  };

  it.each([
    ['bitcoin', 'segwit', p2wpkh, true],
    ['bitcoin', 'segwit in capitals', p2wpkh.toUpperCase(), true],
    ['bitcoin', 'taproot', 'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr', true],
    ['bitcoin', 'legacy', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', true],
    ['bitcoin', 'legacy script', '3J98t1WpEZ73CNmQviecrnyiWrnqRhWNLy', true],
    ['bitcoin', 'a wrong checksum', `${p2wpkh.slice(0, -1)}p`, false],
    ['bitcoin', 'half in capitals', `BC1${p2wpkh.slice(3)}`, false],
    ['bitcoin', 'version 0 as bech32m', 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kemeawh', false],
    [
      'bitcoin',
      'version 1 as bech32',
      'bc1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqh2y7hd',
      false,
    ],
    ['bitcoin', 'of testnet', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', false],
    ['bitcoin', 'of regtest', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', false],
    ['testnet', 'of testnet', 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx', true],
    ['testnet', 'of mainnet', p2wpkh, false],
    ['testnet', 'of mainnet, legacy', '1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa', false],
    ['regtest', 'of regtest', 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080', true],
    ['regtest', 'of mainnet', p2wpkh, false],
    ['ethereum', 'a right checksum', address, true],
    ['ethereum', 'no checksum', address.toLowerCase(), true],
    ['ethereum', 'no 0x', address.slice(2), false],
    ['ethereum', 'a wrong checksum', '0x52908400098527886e0F7030069857D2E4169EE7', false],
    ['ethereum', 'of nobody', `0x${'0'.repeat(40)}`, false],
    ['ethereum', 'of the first precompiled contract', `0x${'0'.repeat(39)}1`, false],
    ['ethereum', 'of a precompiled contract of a rollup', `0x${'0'.repeat(37)}100`, false],
    ['ethereum', 'of somebody, with many zeroes', `0x${'0'.repeat(35)}10001`, true],
    ['ethereum', 'of Bitcoin', p2wpkh, false],
    ['ethereum', 'of our hot wallet', hotOf.ethereum.toLowerCase(), false],
    ['solana', 'an account', owner, true],
    ['solana', 'of nobody', '1'.repeat(32), false],
    ['solana', '31 bytes', '1'.repeat(31), false],
    ['solana', '33 bytes', `${owner}22`, false],
    ['solana', 'a letter that base58 does not have', owner.replace('7', '0'), false],
    ['solana', 'of Ethereum', address, false],
    ['solana', 'of our hot wallet', hotOf.solana, false],
    ['bitcoin', 'of our hot wallet, in capitals', hotOf.bitcoin.toUpperCase(), false],
  ] as const)('%s: %s', (network, _, text, isOne) => {
    const settings = settingsOf[network];
    const on: PayableChain = {
      kind: settings.kind,
      assets: [],
      checkAddress: (typed) => checkOn(settings, typed),
      sender: { hotAddress: hotOf[network] },
    };
    expect(checkRecipient(on, text) !== undefined).toBe(isOne);
  });
});

it('an amount is at least one unit also without a dust limit', () => {
  expect(amountWithin('0', 18, units(0n))).toEqual({
    ok: false,
    refusal: [
      {
        message: 'The amount must be at least 0.000000000000000001.',
        hint: expect.any(String),
        limit: { rule: 'atLeast', value: '0.000000000000000001' },
      },
    ],
  });
  expect(amountWithin('0.000000000000000001', 18, units(0n))).toEqual({ ok: true, value: 1n });
});

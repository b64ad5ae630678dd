import { describe, expect, test } from '@jest/globals';
import { BITCOIN_FEE_MAX } from '@quittance/shared/fee-ceilings';
import { units } from '@quittance/shared/money';
import { Secret } from '@quittance/shared/secret';
import { openSigner } from './registry.ts';
import {
  foreignParts,
  isFeeTooHigh,
  readOrder,
  readSignature,
  type SigningOrder,
  signOrder,
  toWire,
} from './signing.ts';

const phrase = 'test test test test test test test test test test test junk';
const rpcUrls = [new Secret('http://127.0.0.1:1')];
const bitcoin = openSigner({ kind: 'bitcoin', chain: 'bitcoin', network: 'regtest', rpcUrls }, phrase);
const evm = openSigner({ kind: 'evm', chain: 'ethereum', chainId: 31_337, rpcUrls }, phrase);
const solana = openSigner({ kind: 'solana', chain: 'solana', network: 'local', rpcUrls }, phrase);

const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n };
const sweep: SigningOrder<'evm'> = {
  ...{ is: 'native_sweep', hot: evm.addresses.hotAddress, index: 3, nonce: 0, fees },
  ...{ address: evm.addresses.depositAddress(3), balance: units(10n ** 18n) },
};
const transfer: SigningOrder<'evm'> = {
  ...{ is: 'transfer', hot: evm.addresses.hotAddress, asset: 'ETH', to: `0x${'ab'.repeat(20)}` },
  ...{ amount: units(5n), nonce: 7, gas: 21_000n, fees },
};
const spend: SigningOrder<'bitcoin'> = {
  ...{ is: 'spend', hot: bitcoin.addresses.hotAddress },
  utxos: [
    {
      ...{ outpoint: `${'ab'.repeat(32)}:1`, branch: 'change', index: 4, amount: units(90_000n) },
      address: bitcoin.addresses.address('change', 4),
    },
  ],
  recipients: [{ to: 'bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8dxm0gk', amount: units(50_000n) }],
  change: { index: 9, amount: units(39_000n) },
  fee: units(1_000n),
};
const paid: SigningOrder<'solana'> = {
  ...{ is: 'transfer', hot: solana.addresses.hotAddress, asset: 'SOL', amount: units(5n) },
  ...{ to: solana.addresses.depositAddress(1), tokenAccountRent: units(0n), priorityFee: 10_000n },
  lifetime: { blockhash: solana.addresses.hotAddress, lastValidBlockHeight: 150 },
};

describe('an order', () => {
  test.each([
    ['evm', evm, sweep],
    ['evm', evm, transfer],
    ['bitcoin', bitcoin, spend],
    ['solana', solana, paid],
  ] as const)('of %s gives the same bytes after it was stored as JSON', async (kind, signer, order) => {
    const read = readOrder(kind, JSON.parse(JSON.stringify(toWire(order))));
    expect(read).toEqual(order);
    const signature = await signOrder(kind, signer as never, order as never);
    expect(await signOrder(kind, signer as never, read as never)).toEqual(signature);
    expect(readSignature(JSON.parse(JSON.stringify(toWire(signature))))).toEqual(signature);
    expect(foreignParts(kind, signer as never, order as never)).toEqual([]);
  });

  test('that is of another form is refused', () => {
    for (const wire of [null, {}, { ...Object(toWire(transfer)), amount: '-5' }, toWire(spend)])
      expect(() => readOrder('evm', wire)).toThrow();
  });

  test('names the change of Bitcoin, which who has no keys cannot derive', async () => {
    const { bitcoin: told } = await signOrder('bitcoin', bitcoin, spend);
    expect(told?.change).toEqual({ output: 1, address: bitcoin.addresses.address('change', 9) });
  });

  test('that is for the keys of another wallet names what is not of this one', () => {
    const stranger = `0x${'cd'.repeat(20)}`;
    expect(foreignParts('evm', evm, { ...sweep, hot: stranger })).toEqual([stranger]);
    expect(foreignParts('evm', evm, { ...sweep, address: stranger })).toEqual([stranger]);
    const [utxo] = spend.utxos;
    const utxos = utxo === undefined ? [] : [{ ...utxo, index: 5 }];
    expect(foreignParts('bitcoin', bitcoin, { ...spend, utxos })).toEqual([utxo?.outpoint]);
  });
});

test('a fee above the highest that is ever offered is too high, and one that is offered is not', () => {
  for (const order of [sweep, transfer]) expect(isFeeTooHigh('ethereum', order)).toBe(false);
  expect(isFeeTooHigh('ethereum', { ...transfer, gas: 500_001n })).toBe(true);
  const wasteful = { ...fees, maxFeePerGas: 5_000n * 10n ** 9n + 1n };
  expect(isFeeTooHigh('ethereum', { ...sweep, fees: wasteful })).toBe(true);
  expect(isFeeTooHigh('polygon', { ...sweep, fees: wasteful })).toBe(false);
  expect(isFeeTooHigh('bitcoin', { ...spend, fee: BITCOIN_FEE_MAX })).toBe(false);
  expect(isFeeTooHigh('bitcoin', { ...spend, fee: units(BITCOIN_FEE_MAX + 1n) })).toBe(true);
  expect(isFeeTooHigh('solana', { ...paid, priorityFee: 33_000_000n })).toBe(false);
  expect(isFeeTooHigh('solana', { ...paid, priorityFee: 33_000_001n })).toBe(true);
});

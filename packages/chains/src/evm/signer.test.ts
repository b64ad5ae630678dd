import { expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { keccak256, parseTransaction } from 'viem/utils';
import type { EvmChain } from './network.ts';
import { createEvmSigner } from './signer.ts';
import { openWallet } from './wallet.ts';

const token = `0x${'ab'.repeat(20)}` as const;
const wallet = openWallet('test test test test test test test test test test test junk');
const signerOn = (chain: EvmChain) => createEvmSigner({ chain, chainId: 1, usdcAddress: token }, wallet);
const GWEI = 10n ** 9n;
const fees = { maxFeePerGas: GWEI, maxPriorityFeePerGas: GWEI / 10n };

test('the fee of a network on top of Ethereum may be more than the gas: a sweep leaves that behind', async () => {
  const order = { index: 0, balance: units(10n ** 18n), nonce: 0, fees };
  const [onEthereum, onBase] = await Promise.all([
    signerOn('ethereum').signNativeSweep(order),
    signerOn('base').signNativeSweep(order),
  ]);
  expect(onEthereum).toMatchObject({ maxCost: 21_000n * GWEI });
  expect(onBase).toMatchObject({ maxCost: 31_000n * GWEI });
  const sent = (signed: typeof onBase) =>
    signed === 'not_worth_it' ? undefined : parseTransaction(signed.raw as `0x02${string}`).value;
  expect(sent(onBase)).toBe(10n ** 18n - 31_000n * GWEI);
  const little = { ...order, balance: units(62_000n * GWEI) };
  expect(await signerOn('base').signNativeSweep(little)).toBe('not_worth_it');
});

test('an authorization is for the configured token on this chain alone, whatever the nodes say', async () => {
  const signer = signerOn('ethereum');
  const domain = { name: 'USD Coin', version: '2', chainId: 1, verifyingContract: token };
  const order = {
    asset: 'USDC_ERC20',
    index: 3,
    amount: units(5n),
    nonce: 0,
    authorizationNonce: keccak256('0x01'),
    gas: 150_000n,
    fees,
  } as const;
  const signed = await signer.signTokenSweep({ ...order, domain });
  expect(await signerOn('ethereum').signTokenSweep({ ...order, domain: { ...domain } })).toEqual(signed);
  for (const other of [{ chainId: 8453 }, { verifyingContract: `0x${'cd'.repeat(20)}` }] as const)
    await expect(signer.signTokenSweep({ ...order, domain: { ...domain, ...other } })).rejects.toThrow(
      'an authorization is for the configured token',
    );
});

test('by the key of the phrase a transfer has the bytes that the library gives by the private key', async () => {
  const to = `0x${'11'.repeat(20)}` as const;
  const order = { asset: 'ETH', to, amount: units(5n), nonce: 7, gas: 21_000n, fees } as const;
  const { raw, txHash, maxCost } = await signerOn('ethereum').signTransfer(order);
  const transaction = {
    type: 'eip1559',
    chainId: 1,
    nonce: 7,
    gas: 21_000n,
    to,
    value: 5n,
    ...fees,
  } as const;
  expect(raw).toBe(await wallet.hotSigner.signTransaction(transaction));
  expect([txHash, maxCost]).toEqual([keccak256(raw as `0x${string}`), 21_000n * GWEI]);
});

import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { type Hex, keccak256, parseEther } from 'viem';
import type { EvmSender, SignedTransaction, TokenSweepOrder } from '../src/chain.ts';
import { TOKEN_SWEEP_GAS } from '../src/evm/sender.ts';
import type { EvmSigner } from '../src/evm/signer.ts';
import { type DevelopmentChain, newAddress } from './development-chain.ts';
import { fees, hot, senderSuite } from './evm-sender-fixture.ts';

let chain: DevelopmentChain;
let sender: EvmSender;
let signer: EvmSigner;
let to: Hex;
let index: number;
const { codeAt, mine, mintUsdc, nonce, orderOf, otherSender, otherSigner, transfer } = senderSuite(
  (given) => {
    ({ chain, sender, signer, to, index } = given);
  },
);

test('the check refuses a token that takes no authorizations', async () => {
  // Answers 6 to everything: the right decimals, and nonsense as domain.
  const odd = otherSender({ usdcAddress: await codeAt('0x60065f5260205ff3') });
  await expect(odd.check()).rejects.toMatchObject({
    name: 'WrongNetwork',
    message: expect.stringContaining('EIP-3009'),
  });
});

describe('a transfer', () => {
  test('of a token arrives with the gas estimated', async () => {
    const gas = await sender.estimateTransfer('USDC_ERC20', to, units(2_500_000n));
    if (gas === 'reverts') throw new Error('it reverts');
    const signed = await transfer(2_500_000n, { asset: 'USDC_ERC20', gas });
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    await mine();
    expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', succeeded: true });
    expect(await sender.balance('USDC_ERC20', to)).toBe(2_500_000n);
  });

  test('is not signed to what is no address, nor of nothing, nor of another chain’s asset', async () => {
    const order = orderOf(1n);
    await expect(
      signer.signTransfer({ ...order, to: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1Beaed' }),
    ).rejects.toThrow('is no address');
    await expect(signer.signTransfer({ ...order, amount: units(0n) })).rejects.toThrow('invariant');
    await expect(signer.signTransfer({ ...order, nonce: -1 })).rejects.toThrow('invariant');
    await expect(signer.signTransfer({ ...order, asset: 'SOL' })).rejects.toThrow('not an asset');
  });
});

describe('the estimate of a transfer', () => {
  test('to an address without code is the gas of a plain transfer', async () => {
    expect(await sender.estimateTransfer('ETH', to, units(5n))).toBe(21_000n);
  });

  test.each<[string, Hex]>([
    ['refuses it', '0x5f5ffd'],
    ['breaks', '0xfe'],
    ['never ends', '0x5b5f56'],
    // Writes one new storage slot: 21,000 + 22,100 and a little.
    ['takes more gas than the merchant pays for', '0x600160015500'],
    // Writes 20 new storage slots, some 440k gas.
    [
      'takes too much gas',
      `0x${Array.from({ length: 20 }, (_, i) => `600160${(i + 1).toString(16).padStart(2, '0')}55`).join('')}00`,
    ],
  ])('tells that the recipient %s', async (_what, code) => {
    expect(await sender.estimateTransfer('ETH', await codeAt(code), units(1n))).toBe('reverts');
  });

  test.each([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 17])(
    'tells that the precompiled contract %s refuses what a plain transfer gives it',
    async (number) => {
      const recipient = `0x${number.toString(16).padStart(40, '0')}`;
      expect(await sender.estimateTransfer('ETH', recipient, units(1n))).toBe('reverts');
    },
  );

  test.each<[string, Hex, bigint]>([
    // Logs two words, about what a Safe does.
    ['headroom for a recipient that runs code', '0x60406000a000', 25n],
    // Hashes much memory, to some 37k gas: with headroom it would be more than the fee covers.
    ['no more than the fee covers', '0x61a8005f20', 0n],
  ])('has %s', async (_what, code, percent) => {
    const recipient = await codeAt(code);
    const gas = await sender.estimateTransfer('ETH', recipient, units(1n));
    if (gas === 'reverts') throw new Error('it reverts');
    const estimate = await chain.client.estimateGas({ account: hot as Hex, to: recipient as Hex, value: 1n });
    expect(gas).toBe(percent === 0n ? 42_000n : estimate + (estimate * percent) / 100n);
    expect(estimate).toBeGreaterThan(percent === 0n ? 35_000n : 21_500n);
    const signed = await transfer(1n, { gas });
    await sender.broadcast(signed.raw);
    await mine();
    expect(await sender.status(signed.txHash)).toMatchObject({ succeeded: true });
  });

  test('tells that a token refuses it, by reverting or by returning false', async () => {
    expect(
      await sender.estimateTransfer('USDC_ERC20', '0x0000000000000000000000000000000000000000', units(1n)),
    ).toBe('reverts');
    // Says no to transfer(), and has a balance of 9 for everybody asked by balanceOf (0x70a08231).
    const token = await codeAt('0x5f3560e01c6370a0823114601857600060005260206000f35b600960005260206000f3');
    const odd = otherSender({ usdcAddress: token });
    expect(await odd.balance('USDC_ERC20', hot)).toBe(9n);
    expect(await odd.estimateTransfer('USDC_ERC20', newAddress(), units(1n))).toBe('reverts');
  });

  test('is no verdict on the recipient when the hot wallet has too little', async () => {
    await expect(sender.estimateTransfer('USDC_ERC20', to, units(10n ** 15n))).rejects.toThrow(
      'has less USDC_ERC20',
    );
    await expect(sender.estimateTransfer('ETH', to, units(10n ** 30n))).rejects.toThrow();
  });
});

describe('a sweep', () => {
  const tokenSweep = async (): Promise<TokenSweepOrder> => ({
    asset: 'USDC_ERC20',
    index,
    amount: units(1n),
    nonce: 0,
    authorizationNonce: keccak256('0x01'),
    domain: await sender.tokenDomain('USDC_ERC20'),
    gas: TOKEN_SWEEP_GAS,
    fees,
  });

  test('of Ether leaves only what the fee did not take', async () => {
    const from = signer.addresses.depositAddress(index) as Hex;
    const held = parseEther('1');
    await chain.client.setBalance({ address: from, value: held });
    const before = await sender.balance('ETH', hot);
    const order = { index, balance: units(held), nonce: 0, fees };
    const signed = await signer.signNativeSweep(order);
    if (signed === 'not_worth_it') throw new Error('not worth it');
    expect(await signer.signNativeSweep(order)).toEqual(signed);
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    await mine();
    const status = await sender.status(signed.txHash);
    if (status.state !== 'mined') throw new Error('not mined');
    expect(status.succeeded).toBe(true);
    expect(await sender.balance('ETH', hot)).toBe(before + held - signed.maxCost);
    expect(await sender.balance('ETH', from)).toBe(signed.maxCost - status.feePaid);
    expect(await sender.nonce(from, 'latest')).toBe(1);
  });

  test('of Ether is not worth it when it moves less than it may cost', async () => {
    const cost = 21_000n * fees.maxFeePerGas;
    const sweep = (balance: bigint) =>
      signer.signNativeSweep({ index, balance: units(balance), nonce: 0, fees });
    for (const balance of [0n, 1n, cost, 2n * cost]) expect(await sweep(balance)).toBe('not_worth_it');
    expect(await sweep(2n * cost + 1n)).toMatchObject({ maxCost: cost });
  });

  test('of a token needs no Ether at the deposit address, and can be done once', async () => {
    const from = signer.addresses.depositAddress(index) as Hex;
    await mintUsdc(from, 25_000_000n);
    const before = await sender.balance('USDC_ERC20', hot);
    const order = { ...(await tokenSweep()), amount: units(25_000_000n), nonce: await nonce() };
    const again = otherSigner({ usdcAddress: chain.usdc });
    const signed = await signer.signTokenSweep(order);
    expect(await signer.signTokenSweep(order)).toEqual(signed);
    expect(await again.signTokenSweep(order)).toEqual(signed);
    expect(await sender.broadcast(signed.raw)).toBe('accepted');
    await mine();
    expect(await sender.status(signed.txHash)).toMatchObject({ state: 'mined', succeeded: true });
    expect(await sender.balance('USDC_ERC20', from)).toBe(0n);
    expect(await sender.balance('USDC_ERC20', hot)).toBe(before + 25_000_000n);
    expect(await sender.balance('ETH', from)).toBe(0n);
    const { gasUsed } = await chain.client.getTransactionReceipt({ hash: signed.txHash as Hex });
    expect(gasUsed).toBeLessThan(70_000n);

    // The same authorization under another nonce of the hot wallet moves nothing again.
    await mintUsdc(from, 25_000_000n);
    const second = await signer.signTokenSweep({ ...order, nonce: await nonce() });
    expect(await sender.broadcast(second.raw)).toBe('accepted');
    await mine();
    expect(await sender.status(second.txHash)).toMatchObject({ state: 'mined', succeeded: false });
    expect(await sender.balance('USDC_ERC20', from)).toBe(25_000_000n);
  });

  test('of a token is not signed with a malformed authorization nonce, nor of the native asset', async () => {
    const order = await tokenSweep();
    await expect(signer.signTokenSweep({ ...order, authorizationNonce: '0x01' })).rejects.toThrow();
    await expect(signer.signTokenSweep({ ...order, asset: 'ETH' })).rejects.toThrow('invariant');
    await expect(sender.tokenDomain('ETH')).rejects.toThrow('invariant');
  });
});

describe('a broadcast', () => {
  test.each<[string, () => Promise<SignedTransaction>]>([
    [
      'whose nonce another transaction has used',
      async () => {
        await sender.broadcast((await transfer()).raw);
        await mine();
        return transfer(6n, { nonce: (await nonce()) - 1 });
      },
    ],
    ['that the sender cannot pay', () => transfer(parseEther('1000'))],
    ['with too little gas', () => transfer(5n, { gas: 20_999n })],
    ['signed for another chain', () => otherSigner({ chainId: 1 }).signTransfer(orderOf(5n))],
  ])('of a transaction %s is rejected', async (_what, sign) => {
    const signed = await sign();
    expect(await sender.broadcast(signed.raw)).toBe('rejected');
    expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
  });
});

test('the status of a transaction that failed says so, and what it cost', async () => {
  const gas = await sender.estimateTransfer('ETH', to, units(5n));
  const signed = await transfer(5n, { gas: gas === 'reverts' ? 0n : gas });
  await codeAt('0x5f5ffd');
  await sender.broadcast(signed.raw);
  await mine();
  const status = await sender.status(signed.txHash);
  expect(status).toMatchObject({ state: 'mined', succeeded: false });
  expect(status.state === 'mined' && status.feePaid > 0n).toBe(true);
  expect(await sender.balance('ETH', to)).toBe(0n);
});

test('a nonce counts what is mined; at finalized it lags', async () => {
  const latest = await nonce();
  const signed = await transfer();
  await sender.broadcast(signed.raw);
  expect(await nonce()).toBe(latest);
  await mine();
  expect(await nonce()).toBe(latest + 1);
  expect(await sender.nonce(hot, 'finalized')).toBeLessThanOrEqual(latest);
  await mine(6);
  expect(await sender.nonce(hot, 'finalized')).toBe(latest + 1);
});

test('the search for a nonce finds in the blocks who used it, and in which; the height of what is final lags', async () => {
  // eslint-disable-next-line no-restricted-syntax -- a height
  const head = async () => Number((await chain.client.getBlock()).number);
  const before = await head();
  const used = await nonce();
  const signed = await transfer();
  await mine(10);
  await sender.broadcast(signed.raw);
  await mine();
  const height = await head();
  await mine(10);
  const { hash: blockHash } = await chain.client.getBlock({ blockNumber: BigInt(height) });
  const search = (from: number, to: number) => sender.findByNonce(hot, used, from, to);
  expect(await search(before + 1, height + 5)).toEqual({ txHash: signed.txHash, height, blockHash });
  expect(await search(height, height)).toMatchObject({ height });
  expect(await search(before, height - 1)).toBeUndefined();
  expect(await search(height + 1, height + 10)).toBeUndefined();
  expect(await sender.findByNonce(to, used, before, height)).toBeUndefined();
  await expect(search(height + 1, height + 11)).rejects.toThrow(`no block ${height + 11}`);
  const final = await sender.finalizedHeight();
  expect(final).toBeGreaterThan(before);
  expect(final).toBeLessThan(height + 10);
});

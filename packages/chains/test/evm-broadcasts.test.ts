import { describe, expect, test } from '@jest/globals';
import { units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { type Hex, parseEther } from 'viem';
import type { EvmSender, SignedTransaction } from '../src/chain.ts';
import { createEvmSender } from '../src/evm/sender.ts';
import { openWallet } from '../src/evm/wallet.ts';
import { connectRpc, type Rpc } from '../src/json-rpc.ts';
import { type DevelopmentChain, developmentChain, PHRASE } from './development-chain.ts';
import { hot, senderSuite } from './evm-sender-fixture.ts';
import {
  type Asked,
  answer,
  error,
  failures,
  type Handler,
  says,
  scriptedNodes,
} from './scripted-json-rpc.ts';

let chain: DevelopmentChain;
let sender: EvmSender;
let to: Hex;
const { codeAt, mine, nonce, orderOf, otherSender, transfer } = senderSuite((given) => {
  ({ chain, sender, to } = given);
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
    ['signed for another chain', () => otherSender({ chainId: 1 }).signTransfer(orderOf(5n))],
  ])('of a transaction %s is rejected', async (_what, sign) => {
    const signed = await sign();
    expect(await sender.broadcast(signed.raw)).toBe('rejected');
    expect(await sender.status(signed.txHash)).toEqual({ state: 'absent' });
  });

  test('while the node is down, or hangs, is unknown, and goes on when it is back', async () => {
    const hanging = await developmentChain();
    try {
      const rpc = connectRpc(hanging.node.rpcUrl);
      const impatient = {
        ...rpc,
        call: (method: string, params: readonly unknown[]) => rpc.call(method, params, 200),
      };
      const other = otherSender({ rpc: impatient });
      await hanging.client.setBalance({ address: hot, value: parseEther('1') });
      const signed = await other.signTransfer(orderOf(5n));
      hanging.node.pause();
      // On a busy machine the signal may reach the node late.
      await eventually(() =>
        expect(other.nonce(hot, 'latest')).rejects.toMatchObject({ name: 'RpcUnavailable' }),
      );
      expect(await other.broadcast(signed.raw)).toBe('unknown');
      hanging.node.resume();
      expect(await other.broadcast(signed.raw)).toBe('accepted');
      await hanging.node.stop();
      expect(await other.broadcast(signed.raw)).toBe('unknown');
      await expect(other.status(signed.txHash)).rejects.toMatchObject({ name: 'RpcUnavailable' });
      await expect(other.nonce(hot, 'latest')).rejects.toMatchObject({ name: 'RpcUnavailable' });
      await hanging.node.restart();
      expect(await other.status(signed.txHash)).toEqual({ state: 'absent' });
      await rpc.close();
    } finally {
      await hanging.stop();
    }
  });
});

describe('the status', () => {
  test('of a transaction that failed says so, and what it cost', async () => {
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
});

describe('a nonce', () => {
  test('counts what is mined; at finalized it lags', async () => {
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
});

describe('the search for a nonce', () => {
  test('finds in the blocks who used it, and in which; the height of what is final lags', async () => {
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
});

const { connect } = scriptedNodes();

describe('a broadcast to a scripted node', () => {
  const raw = '0x02c0ffee';
  const known = { hash: `0x${'1'.repeat(64)}` };
  const send = async (handler: Handler, withinMs = 20_000) => {
    const node = await connect(handler);
    const impatient: Rpc = { ...node, call: (method, params) => node.call(method, params, withinMs) };
    return createEvmSender({
      rpc: impatient,
      wallet: openWallet(PHRASE),
      chain: 'ethereum',
      chainId: 1,
    }).broadcast(raw);
  };
  /** A node that refuses the transaction with this error, and answers so when asked for it by hash. */
  const refusing =
    (code: number, message: string, byHash: unknown): Handler =>
    (_request, response, asked) => {
      const { id, method } = asked as Asked;
      if (method === 'eth_sendRawTransaction')
        return void response.end(JSON.stringify(error(id, code, message)));
      if (byHash === undefined) return void response.destroy();
      response.end(JSON.stringify(answer(id, byHash)));
    };

  test.each(failures)('that meets %s is unknown', async (_what, handler) => {
    expect(await send(handler, 300)).toBe('unknown');
  });

  test('answered with the hash of something else is unknown', async () => {
    expect(await send(says(200, JSON.stringify(answer(0, known.hash))))).toBe('unknown');
  });

  test.each<[message: string, code: number, byHash: unknown, outcome: string]>([
    ['already known', -32_000, undefined, 'accepted'],
    ['AlreadyKnown', -32_010, undefined, 'accepted'],
    ['transaction already imported', -32_003, undefined, 'accepted'],
    ['INTERNAL_ERROR: existing tx with same hash', -32_000, undefined, 'accepted'],
    ['Known transaction', -32_603, undefined, 'accepted'],
    ['nonce too low', -32_000, known, 'accepted'],
    ['nonce too low', -32_000, null, 'rejected'],
    ['nonce too low', -32_000, undefined, 'unknown'],
    ['replacement transaction underpriced', -32_000, known, 'accepted'],
    ['replacement transaction underpriced', -32_000, null, 'rejected'],
    ['insufficient funds for gas * price + value', -32_003, null, 'rejected'],
    ['rlp: value size exceeds available input length', -32_602, null, 'rejected'],
    ['internal error', -32_603, null, 'unknown'],
    ['internal error', -32_603, known, 'accepted'],
    ['limit exceeded', -32_005, null, 'unknown'],
    ['method not found', -32_601, null, 'unknown'],
  ])('refused with "%s" (%d), and by hash %p, is %s', async (message, code, byHash, outcome) => {
    expect(await send(refusing(code, message, byHash))).toBe(outcome);
  });
});

import { describe, expect, it } from '@jest/globals';
import type { EvmSender } from '@quittance/chains/chain';
import { depositAddress, HOT } from '@quittance/testkit/scripted-evm-sender';
import { watchEnded } from '../src/operations/watch-ended.ts';
import { CONFIRMATIONS, ETHER, engineSuite } from './engine-fixture.ts';
import { MAX_FEE } from './scripted-chain.ts';

/** Replacements of transactions that no block includes: at most one attempt of a group is ever mined. */
const fixture = engineSuite();

const STUCK_MS = 180_000;

/** The fees rise, and no block includes what was sent. */
function feesRise(): void {
  fixture.chain.leastFee = 3n * MAX_FEE;
  fixture.chain.mine();
  fixture.clock.advance(STUCK_MS + 1);
}

/** A payout that was sent before the fees rose. */
async function aStuckPayout() {
  fixture.chain.fund('ETH', HOT, 10n * ETHER);
  const sent = await fixture.send();
  feesRise();
  return sent;
}

describe('a payout that is stuck', () => {
  it('is signed again with the same nonce, recipient and amount and a higher fee, and paid once', async () => {
    const { id } = await aStuckPayout();
    await fixture.run();
    const [first, second] = await fixture.transactions();
    const open = { nonce: '0', state: 'broadcast', amount: ETHER.toString() };
    expect([first, second]).toMatchObject([
      { ...open, attempt: 1 },
      { ...open, attempt: 2, replacement_group: first?.['id'] },
    ]);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast', tx_hash: second?.['tx_hash'] });
    expect(await fixture.attempts(id)).toEqual([
      { status: 'replaced', fee: 'gwei' },
      { status: 'sent', fee: 'gwei' },
    ]);
    await fixture.finish();
    expect((await fixture.attempts(id)).map(({ status }) => status)).toEqual(['replaced', 'mined']);
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined', tx_hash: second?.['tx_hash'] });
    expect(await fixture.transactions()).toMatchObject([{ state: 'invalidated' }, { state: 'mined' }]);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.settle', 'payout.completed']);
    const spent = [
      { purpose: 'payout', tx_hash: second?.['tx_hash'], amount: (21_000n * 3n * MAX_FEE).toString() },
    ];
    expect(await fixture.spent()).toMatchObject(spent);
  });

  it('is not signed again too early, nor while a block includes it', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    await fixture.send();
    fixture.clock.advance(STUCK_MS - 1);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
    fixture.chain.mine();
    fixture.clock.advance(2);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
  });

  it('is settled by the older attempt when that one is mined', async () => {
    const { id } = await aStuckPayout();
    await fixture.run();
    const [first] = await fixture.transactions();
    fixture.chain.mineBytes(String(first?.['raw']));
    await fixture.finish();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined', tx_hash: first?.['tx_hash'] });
    expect(await fixture.transactions()).toMatchObject([{ state: 'mined' }, { state: 'invalidated' }]);
    expect((await fixture.attempts(id)).map(({ status }) => status)).toEqual(['mined', 'replaced']);
    expect(await fixture.spent()).toMatchObject([{ tx_hash: first?.['tx_hash'] }]);
  });

  it('is not sent again when a deep reorganisation has put another attempt in its place', async () => {
    const { id, to } = await aStuckPayout();
    await fixture.run();
    const [first] = await fixture.transactions();
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
    fixture.chain.reorg(CONFIRMATIONS, 'gone');
    fixture.chain.mineBytes(String(first?.['raw']));
    const sent = fixture.chain.arrived.length;
    await watchEnded(fixture.ports, 0);
    expect(fixture.chain.arrived).toHaveLength(sent);
    fixture.expectLogged({ msg: expect.stringMatching(/taken the place of a settled/) });
    expect(fixture.chain.paymentsTo(to)).toHaveLength(1);
  });

  it('does not fail when another of its attempts used the nonce, also when that one is final before it has its confirmations', async () => {
    fixture.chain.finalizedLag = 0;
    const { id } = await aStuckPayout();
    await fixture.run();
    const [first] = await fixture.transactions();
    fixture.chain.mineBytes(String(first?.['raw']));
    fixture.chain.hasNoReceipts = true;
    await fixture.rounds(3, 31_000);
    expect(await fixture.payout(id)).toMatchObject({ status: 'broadcast' });
    fixture.chain.hasNoReceipts = false;
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined' });
  });

  it('fails only when another transaction used the nonce, and all its attempts are invalidated then', async () => {
    const { id } = await aStuckPayout();
    await fixture.run();
    fixture.chain.useNonce(HOT);
    fixture.chain.mine(fixture.chain.finalizedLag + 1);
    await fixture.rounds(3, 31_000);
    expect(await fixture.payout(id)).toMatchObject({ status: 'failed' });
    expect(await fixture.transactions()).toMatchObject([{ state: 'invalidated' }, { state: 'invalidated' }]);
    expect(await fixture.published(id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
  });

  it('gets a limited number of attempts, and then an error is logged', async () => {
    await aStuckPayout();
    fixture.chain.leastFee = 1_000n * MAX_FEE;
    await fixture.rounds(12, STUCK_MS + 1);
    const attempts = await fixture.transactions();
    expect(attempts.length).toBeGreaterThan(1);
    expect(attempts.length).toBeLessThanOrEqual(7);
    const costs = attempts.map((one) => BigInt(String(one['max_cost'])));
    expect(costs.at(-1)).toBeLessThanOrEqual(21_000n * MAX_FEE * 10n);
    fixture.expectLogged({ msg: expect.stringMatching(/not raised any more/) });
    fixture.chain.leastFee = 1n;
    await fixture.finish();
  });

  it('is replaced together with later ones that offer too little as well', async () => {
    fixture.chain.fund('ETH', HOT, 10n * ETHER);
    const payouts = [await fixture.reserve(), await fixture.reserve(), await fixture.reserve()];
    await fixture.run();
    fixture.chain.leastFee = 2n * MAX_FEE;
    fixture.clock.advance(STUCK_MS + 1);
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(6);
    await fixture.expectPaid(...payouts);
  });

  it('sends the older attempt as well while no node accepts the newer one', async () => {
    const { id } = await aStuckPayout();
    // The older bytes again, and the newer attempt.
    fixture.chain.fates.push('accept', 'reject');
    await fixture.run();
    const [first] = await fixture.transactions();
    fixture.chain.forgetPool();
    fixture.chain.fates.push('accept', 'reject');
    fixture.clock.advance(5_001);
    await fixture.run();
    fixture.chain.leastFee = MAX_FEE;
    fixture.chain.mine(CONFIRMATIONS);
    await fixture.run();
    expect(await fixture.payout(id)).toMatchObject({ status: 'mined', tx_hash: first?.['tx_hash'] });
  });

  it('waits when the hot wallet cannot pay a higher fee, and an error is logged', async () => {
    const cost = 21_000n * MAX_FEE;
    fixture.chain.fund('ETH', HOT, ETHER + cost);
    await fixture.send();
    feesRise();
    await fixture.run();
    expect(await fixture.transactions()).toHaveLength(1);
    fixture.expectLogged({ msg: expect.stringMatching(/cannot be raised/) });
  });
});

describe('a process that dies while it replaces a transaction', () => {
  it.each([
    ['stored', 1],
    ['sent', 2],
  ] as const)('before the next attempt is %s leaves what another process needs', async (before, attempts) => {
    const { id } = await aStuckPayout();
    const killed = () => Promise.reject(new Error('killed'));
    const broadcast: EvmSender['broadcast'] = async (raw) =>
      (await fixture.transactions()).length > 1 ? killed() : fixture.chain.sender.broadcast(raw);
    const fault =
      before === 'stored' ? { signer: { sign: killed } } : { sender: { ...fixture.chain.sender, broadcast } };
    await expect(fixture.run({ ...fixture.ports, ...fault })).rejects.toThrow('killed');
    expect(await fixture.transactions()).toHaveLength(attempts);
    await fixture.freeLease();
    await fixture.expectPaid({ id });
    expect(await fixture.transactions()).toMatchObject([{ state: 'invalidated' }, { state: 'mined' }]);
  });
});

describe('a sweep that is stuck', () => {
  it.each([
    ['ETH', 5n * ETHER, ETHER],
    ['USDC_ERC20', 5_000_000n, 4_000_000n],
  ] as const)('of %s is signed again, and the payout behind it is paid', async (asset, held, wanted) => {
    if (asset === 'USDC_ERC20') fixture.chain.fund('ETH', HOT, ETHER);
    await fixture.deposit(1, asset, held);
    const { id } = await fixture.send({ asset, amount: wanted });
    feesRise();
    await fixture.run();
    expect(await fixture.transactions()).toMatchObject([
      { purpose: 'sweep', attempt: 1, swept_address: depositAddress(1) },
      { purpose: 'sweep', attempt: 2, swept_address: depositAddress(1), nonce: '0' },
    ]);
    await fixture.finish();
    await fixture.expectPaid({ id });
    expect(await fixture.db.rows('select state from unswept_deposits')).toEqual([{ state: 'swept' }]);
    expect(fixture.chain.balance(asset, depositAddress(1))).toBe(0n);
    expect((await fixture.spent()).map(({ purpose }) => purpose)).toEqual(['sweep', 'payout']);
  });

  it('brings the deposits when the older attempt is mined', async () => {
    await fixture.deposit(1, 'ETH', 5n * ETHER);
    const { id } = await fixture.send();
    feesRise();
    await fixture.run();
    const [first] = await fixture.transactions();
    fixture.chain.mineBytes(String(first?.['raw']));
    fixture.chain.leastFee = MAX_FEE;
    await fixture.finish();
    await fixture.expectPaid({ id });
    expect(await fixture.transactions()).toMatchObject([
      { state: 'mined' },
      { state: 'invalidated' },
      { state: 'mined' },
    ]);
  });
});

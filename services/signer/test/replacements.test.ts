import { describe, expect, it } from '@jest/globals';
import { readSignature } from '@quittance/chains/signing';
import type { Chain } from '@quittance/shared/assets';
import { signerSuite } from './signer-fixture.ts';
import {
  aSolanaTransfer,
  aSpend,
  aTransfer,
  bumped,
  type OrderOfPayouts,
  others,
  outpoint,
  recipients,
} from './signer-orders.ts';

const fixture = await signerSuite();

const MINEABLE = 'another transaction of the payout may still be mined';
const ofBitcoin = { asset: 'BTC', amount: '10000', destination: recipients.bitcoin } as const;
const ofSolana = { asset: 'SOL', destination: recipients.solana } as const;

async function signed(chain: Chain, order: OrderOfPayouts): Promise<string> {
  const reply = await fixture.sign(chain, [order]);
  expect(reply.refused).toBeNull();
  return readSignature(reply.signed[0]).txHash;
}

async function refused(chain: Chain, order: OrderOfPayouts) {
  const before = await fixture.rows();
  const reply = await fixture.sign(chain, [order]);
  expect(reply.signed).toEqual([]);
  expect(await fixture.rows()).toEqual(before);
  return reply.refused;
}

describe('on EVM, of a payout that was signed', () => {
  it('a transaction with the same nonce is signed, also beside another payout that has it, and one with another nonce is not', async () => {
    const order = aTransfer(fixture.hold('1'), { nonce: 7 });
    await signed('ethereum', order);
    await signed('ethereum', bumped(order));
    await signed('ethereum', aTransfer(fixture.hold('2'), { nonce: 7 }));
    expect(await refused('ethereum', aTransfer('1', { nonce: 8 }))).toMatchObject({
      because: MINEABLE,
      payouts: ['1'],
    });
    await signed('ethereum', bumped(order, 3n));
  });

  it('none is signed with the same nonce on another chain, where the hot wallet is the same', async () => {
    await signed('ethereum', aTransfer(fixture.hold('1'), { nonce: 7 }));
    const elsewhere = aTransfer('1', { nonce: 7, asset: 'ETH_BASE' });
    expect(await refused('base', elsewhere)).toMatchObject({ payouts: ['1'] });
  });

  it('another attempt may pay nobody else, and nothing else', async () => {
    const order = aTransfer(fixture.hold('1'));
    await signed('ethereum', order);
    for (const changed of [
      { to: others.ethereum },
      { amount: 1_001n as never },
      { asset: 'USDC_ERC20' as const },
    ]) {
      // What the ledger says by now makes no difference.
      fixture.hold('1', { destination: others.ethereum, amount: '1001' });
      expect(await refused('ethereum', bumped(aTransfer('1', changed)))).toMatchObject({ payouts: ['1'] });
    }
  });

  it('another attempt is signed after its hold has ended, while nobody answers', async () => {
    const order = aTransfer(fixture.hold('1'));
    await signed('ethereum', order);
    fixture.around.holds.clear();
    fixture.around.ledgerAnswers = false;
    await signed('ethereum', bumped(order));
  });
});

describe('on Bitcoin, of a payout that was signed', () => {
  it('one has to share an input with every earlier one, and the amounts of its inputs are kept', async () => {
    await signed('bitcoin', aSpend([fixture.hold('1', ofBitcoin)], [1, 2]));
    expect(await fixture.db.rows('select outpoint, amount from spent_outpoints order by 1')).toEqual([
      { outpoint: outpoint(1), amount: '100000' },
      { outpoint: outpoint(2), amount: '100000' },
    ]);
    await signed('bitcoin', aSpend(['1'], [2, 3], { fee: 2_000n }));
    for (const inputs of [[4], [3, 4]])
      expect(await refused('bitcoin', aSpend(['1'], inputs))).toMatchObject({
        because: MINEABLE,
        payouts: ['1'],
      });
    await signed('bitcoin', aSpend(['1'], [1, 3]));
  });

  it('several are paid together, and the refusal names those that may not be', async () => {
    const [one, two] = [fixture.hold('1', ofBitcoin), fixture.hold('2', ofBitcoin)];
    await signed('bitcoin', aSpend([one], [1]));
    expect(await refused('bitcoin', aSpend([one, two, '3'], [2]))).toMatchObject({ payouts: ['1', '3'] });
    await signed('bitcoin', aSpend([one, two], [1, 2]));
  });
});

describe('on Solana, of a payout that was signed', () => {
  const later = (told = 1_300) =>
    aSolanaTransfer('1', {
      lifetime: { blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N', lastValidBlockHeight: told },
    });

  it('another is signed when the nodes have shown that the earlier one can never be mined', async () => {
    const hash = await signed('solana', aSolanaTransfer(fixture.hold('1', ofSolana)));
    expect(await refused('solana', later())).toMatchObject({ because: MINEABLE, payouts: ['1'] });
    fixture.around.nonInclusions.set(hash, 'included');
    expect(await refused('solana', later())).toMatchObject({ because: MINEABLE });
    fixture.around.nonInclusions.set(hash, 'proven');
    await signed('solana', later());
    expect(await fixture.rows()).toMatchObject({ signatures: 2, non_inclusions: 1 });
  });

  it('a proof is kept, and each earlier one needs its own', async () => {
    const first = await signed('solana', aSolanaTransfer(fixture.hold('1', ofSolana)));
    fixture.around.nonInclusions.set(first, 'proven');
    const second = await signed('solana', later());
    fixture.around.searched.length = 0;
    expect(await refused('solana', later(1_400))).toMatchObject({ because: MINEABLE });
    expect(fixture.around.searched.map(([hash]) => hash)).toEqual([second]);
  });

  it('the search begins with what was final when it was signed', async () => {
    fixture.around.finalSlot = 2_000;
    fixture.around.validToHeightOfNow = 1_100;
    const hash = await signed('solana', aSolanaTransfer(fixture.hold('1', ofSolana)));
    fixture.around.finalSlot = 3_000;
    await refused('solana', later());
    expect(fixture.around.searched).toEqual([[hash, 1_150, 2_000]]);
  });

  // Otherwise it would count as over while it can still be mined.
  it('a lifetime that is told too short is not believed', async () => {
    const told = aSolanaTransfer(fixture.hold('1', ofSolana), {
      lifetime: { blockhash: 'EkSnNWid2cvwEVnVx9aBqawnmiCNiDgp3gUdkDPTKN1N', lastValidBlockHeight: 1 },
    });
    const hash = await signed('solana', told);
    await refused('solana', later());
    expect(fixture.around.searched).toEqual([[hash, 1_182, 1_000]]);
  });

  it('none is signed while the nodes do not answer', async () => {
    fixture.around.nodesAnswer = false;
    expect(await refused('solana', aSolanaTransfer(fixture.hold('1', ofSolana)))).toMatchObject({
      because: 'the nodes of the chain did not answer',
      again_after_ms: 1_000,
    });
    fixture.around.nodesAnswer = true;
    const order = aSolanaTransfer('1');
    await signed('solana', order);
    fixture.around.nodesAnswer = false;
    await signed('solana', order);
  });
});

import { expect, it } from '@jest/globals';
import { readSignature } from '@quittance/chains/signing';
import { aSweep, aTransfer, bumped, signerSuite } from './signer-fixture.ts';

const fixture = await signerSuite();

it('signs the same order twice with the same bytes, and records it once', async () => {
  const order = aTransfer(fixture.hold('1'));
  const first = await fixture.sign('ethereum', [order]);
  fixture.around.holds.clear();
  fixture.around.ledgerAnswers = false;
  const again = await fixture.sign('ethereum', [order]);
  expect(first.refused).toBeNull();
  expect(first.signed.map(readSignature)).toMatchObject([{ raw: expect.stringMatching(/^0x02/) }]);
  expect(again).toEqual(first);
  expect(await fixture.rows()).toEqual({ cleared_payouts: 1, signatures: 1, signed_payouts: 1, wallets: 1 });
});

it('signs what stands before an order that it refuses, and nothing behind it', async () => {
  const [one, two, three] = [fixture.hold('1'), '2', fixture.hold('3')];
  const { signed, refused } = await fixture.sign('ethereum', [
    aTransfer(one, { nonce: 0 }),
    aTransfer(two, { nonce: 1 }),
    aTransfer(three, { nonce: 2 }),
  ]);
  expect(signed).toHaveLength(1);
  expect(refused).toEqual({
    because: 'the ledger has no hold for the payout',
    payouts: ['2'],
    foreign: [],
    again_after_ms: 60_000,
  });
  expect(await fixture.rows()).toMatchObject({ signatures: 1 });
});

it('signs a sweep without asking anybody', async () => {
  const { signed, refused } = await fixture.sign('ethereum', [aSweep()]);
  expect([signed.length, refused]).toEqual([1, null]);
  expect(fixture.around.asked).toEqual([]);
});

it('signs nothing that it has not signed before, when that is asked for', async () => {
  const order = aTransfer(fixture.hold('1'));
  const [known] = (await fixture.sign('ethereum', [order])).signed;
  const { signed, refused } = await fixture.sign('ethereum', [order, bumped(order)], true);
  expect(signed).toEqual([known]);
  expect(refused).toMatchObject({ because: 'not signed before' });
});

import { expect, it } from '@jest/globals';
import { DUE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

const { fixture, anInvoice, mine, blocks, reorg, pay, settle } = await openFixture();

const USDC = { asset: 'USDC_ERC20' } as const;
const about = async ({ id }: { id: string }) =>
  (await fixture.told(id)).filter(({ kind }) => kind === 'invoice.unresolved_payment');

it('a payment of another asset is listed by its name, and reported once it is final', async () => {
  const invoice = await anInvoice();
  const { tx } = await pay(invoice.to, 25_000_000n, { ...USDC, index: 1 });
  const listed = { amount: '25', ...USDC, output_index: 1 };
  await invoice.expectShown({ status: 'pending', payments: [{ ...listed, status: 'pending' }] });
  expect(await about(invoice)).toEqual([]);
  await blocks(2);
  const waiting = { disposition: 'unresolved', reason: 'wrong_asset', ...USDC, amount: '25000000' };
  expect(await invoice.settled()).toMatchObject([{ payload: waiting }]);
  const [deposit] = await invoice.deposits();
  await invoice.expectReported('deposit.settled', 'invoice.unresolved_payment');
  expect(await about(invoice)).toMatchObject([
    {
      payload: {
        resource_id: invoice.id,
        version: 1,
        data: {
          id: invoice.id,
          status: 'pending',
          payments: [{ ...listed, status: 'confirmed' }],
          unresolved: {
            id: deposit.id,
            reason: 'wrong_asset',
            amount: '25',
            asset: { symbol: 'USDC_ERC20', decimals: 6 },
            tx_hash: tx,
          },
        },
      },
    },
  ]);
});

it('is not reported again when its block is read again, or when the invoice changes', async () => {
  const invoice = await anInvoice();
  const again = { pay: [{ to: invoice.to, amount: 25_000_000n, tx: newTx(), ...USDC }] };
  await mine(again, {}, {});
  expect(await about(invoice)).toHaveLength(1);
  await reorg(3, {}, again, {}, {});
  expect(await invoice.deposits()).toMatchObject([{ state: 'settled' }]);
  await pay(invoice.to, DUE);
  await settle();
  await invoice.expectShown({ status: 'paid' });
  expect(await about(invoice)).toHaveLength(1);
});

it('each of several payments in one block is reported', async () => {
  const invoice = await anInvoice();
  const [one, two] = [newTx(), newTx()];
  await mine({ pay: [one, two].map((tx) => ({ to: invoice.to, amount: 10_000n, tx, ...USDC })) }, {}, {});
  const told = (await about(invoice)).map(({ payload }) => payload.data.unresolved.tx_hash);
  expect(told.toSorted()).toEqual([one, two].toSorted());
});

it('payments in the invoice’s asset and very small ones are not reported', async () => {
  const invoice = await anInvoice();
  await mine({
    pay: [
      { to: invoice.to, amount: DUE },
      { to: invoice.to, amount: 1n },
      { to: invoice.to, amount: 9_999n, ...USDC },
    ],
  });
  await settle();
  await invoice.expectShown({ status: 'paid' });
  const reasons = (await invoice.settled()).map(({ payload }) => payload.reason ?? payload.disposition);
  expect(reasons.toSorted()).toEqual(['credit', 'too_small', 'wrong_asset']);
  expect(await about(invoice)).toEqual([]);
});

import { beforeEach, expect, it, jest } from '@jest/globals';
import type { Block, Payment } from '@quittance/chains/chain';
import type { DepositId, InvoiceId } from '@quittance/shared/ids';
import type { Units } from '@quittance/shared/money';
import { eventually } from '@quittance/testkit/eventually';
import { request } from 'undici';
import { saveContradictions } from '../src/store/contradictions.ts';
import { DUE, empty, MINUTE, openFixture } from './fixture.ts';
import { newTx } from './scripted-chain.ts';

/** Confirmations of Ether in these fixtures. */
const DEEP = 3;

const { fixture, mine, blocks, pass, pay, reorg, anInvoice: invoiceOf } = await openFixture();
/** What the node reports of a block in place of its content. */
let lie: (block: Block) => Block;
const { blocksAfter, block } = fixture.chain;
fixture.chain.blocksAfter = async (...asked) => (await blocksAfter(...asked)).map((one) => lie(one));
fixture.chain.block = async (height) => {
  const found = await block(height);
  return found && lie(found);
};
beforeEach(() => {
  lie = (one) => one;
});

const withPayments = (block: Block, ...payments: Payment[]): Block => ({ ...block, payments });
const paymentTo = (block: Block | undefined, to: string): Payment => {
  const found = block?.payments.find(({ address }) => address === to);
  if (found === undefined) throw new Error(`no payment to ${to} in block ${block?.height}`);
  return found;
};

async function anInvoice() {
  const invoice = await invoiceOf({ expires_in: 120 });
  return {
    ...invoice,
    deposits: () =>
      fixture.rows(
        'select state, amount, block_height from deposits where invoice_id = $1 order by block_height, id',
        [invoice.id],
      ),
    page: async () =>
      await (await request(`http://127.0.0.1:${fixture.service.port}/pay/${invoice.id}`)).body.text(),
    settled: async () =>
      (await fixture.told(invoice.id))
        .filter(({ kind }) => kind.startsWith('deposit.'))
        .map(({ kind, payload }) => `${kind} ${payload.amount}`),
  };
}

const outcomesOf = async ({ id }: { id: string }): Promise<string[]> =>
  (await fixture.rows('select outcome from contradictions where invoice_id = $1', [id])).map(
    ({ outcome }) => outcome,
  );
async function readiness() {
  const answer = await request(`http://127.0.0.1:${fixture.service.port}/readyz`);
  return { status: answer.statusCode, body: await answer.body.json() };
}
async function heldBackByMetrics(): Promise<string | undefined> {
  const answer = await request(`http://127.0.0.1:${fixture.service.port}/metrics`);
  return /^quittance_payments_contradicted\{chain="ethereum"\} (\d+)/m.exec(await answer.body.text())?.[1];
}

it('a block with another block’s payments delays no other payment, and its own are recorded when it is read again', async () => {
  const [first, second] = [await anInvoice(), await anInvoice()];
  const { block: a } = await pay(first.to, DUE);
  const [b] = fixture.chain.mine({ pay: [{ to: second.to, amount: DUE }] });
  let told = 0;
  lie = (block) =>
    block.hash === b?.hash && told++ === 0 ? withPayments(block, paymentTo(a, first.to)) : block;
  await fixture.scan();
  expect(told).toBeGreaterThan(1);
  await second.expectShown({ status: 'confirmed', pending_amount: '0.01' });
  await blocks(DEEP);
  for (const invoice of [first, second]) {
    expect(await invoice.settled()).toEqual([`deposit.settled ${DUE}`]);
    await invoice.expectShown({ payments: [{ required_confirmations: DEEP }] });
  }
  expect(await outcomesOf(first)).toEqual(['earlier']);
});

it.each([
  ['the same', DUE],
  ['less', DUE / 2n],
] as const)(
  'a payment told of a block that does not hold it moves to the one that does, with %s in it',
  async (_what, amount) => {
    const [wrong, other] = [await anInvoice(), await anInvoice()];
    const tx = newTx();
    const made = {
      outpoint: `${tx}:0`,
      txHash: tx,
      outputIndex: 0,
      asset: 'ETH',
      address: wrong.to,
    } as const;
    const [a] = fixture.chain.mine({});
    let told = 0;
    lie = (block) =>
      block.hash === a?.hash && told++ === 0 ? withPayments(block, { ...made, amount: DUE as Units }) : block;
    await fixture.scan();
    await wrong.expectShown({ status: 'confirmed' });
    const [b] = await mine({
      pay: [
        { to: wrong.to, amount, tx },
        { to: other.to, amount: DUE },
      ],
    });
    await other.expectShown({ status: 'confirmed' });
    expect((await wrong.deposits()).at(-1)).toEqual({
      state: 'seen',
      amount: amount.toString(),
      block_height: b?.height,
    });
    await blocks(2 * DEEP);
    // Half of the amount due is not credited before the rest arrives.
    expect(await wrong.settled()).toEqual(amount === DUE ? [`deposit.settled ${DUE}`] : []);
    expect(await other.settled()).toEqual([`deposit.settled ${DUE}`]);
    expect(await outcomesOf(wrong)).toEqual(['later']);
  },
);

it('only a payment that stays in two blocks is held, reported to the operator, and credited once', async () => {
  const [doubted, other] = [await anInvoice(), await anInvoice()];
  const { block: a } = await pay(doubted.to, DUE);
  const [b] = fixture.chain.mine({});
  const payment = paymentTo(a, doubted.to);
  lie = (block) => (block.hash === b?.hash ? withPayments(block, payment) : block);
  await mine({ pay: [{ to: other.to, amount: DUE }] }, ...empty(2 * DEEP));
  await pass(5 * MINUTE);
  expect(await other.settled()).toEqual([`deposit.settled ${DUE}`]);
  expect(await doubted.settled()).toEqual([]);
  await doubted.expectShown({
    status: 'confirmed',
    pending_amount: '0.01',
    payments: [{ status: 'pending', required_confirmations: DEEP, confirmed_at: null }],
  });
  expect(await doubted.page()).toContain('being checked');
  // For any number of blocks per hour on its network.
  await fixture.rows(
    'update deposits set block_height = block_height - 2000000, due_height = due_height - 2000000 where outpoint = $1',
    [payment.outpoint],
  );
  await blocks(1);
  expect(await doubted.settled()).toEqual([]);
  await fixture.rows('update deposits set block_height = block_height + 2000000 where outpoint = $1', [
    payment.outpoint,
  ]);
  expect(await readiness()).toMatchObject({
    status: 200,
    body: { ready: true, without: [expect.stringMatching(`${payment.outpoint}.*${doubted.id}`)] },
  });
  expect(await heldBackByMetrics()).toBe('1');

  lie = (block) => block;
  fixture.pass(MINUTE);
  await fixture.scan();
  await blocks(1);
  expect(await doubted.settled()).toEqual([`deposit.settled ${DUE}`]);
  expect(await doubted.deposits()).toMatchObject([{ state: 'settled', block_height: a?.height }]);
  await doubted.expectShown({ payments: [{ status: 'confirmed', confirmed_at: expect.any(String) }] });
  await eventually(async () =>
    expect(await readiness()).toEqual({ status: 200, body: { ready: true, waits_for: [] } }),
  );
});

it('a credited payment is not reported as held, and an operator can end its contradiction', async () => {
  const booked = await anInvoice();
  const [block] = fixture.chain.mine({ pay: [{ to: booked.to, amount: DUE }] });
  for (let n = 0; n < 5; n++) await blocks(1);
  const [deposit] = await fixture.rows('select id, state, outpoint from deposits where invoice_id = $1', [
    booked.id,
  ]);
  expect(deposit?.state).toBe('settled');
  await fixture.rows(
    `insert into contradictions (chain, block_hash, block_height, outpoint, deposit_id, invoice_id, found_at, check_at)
     values ('ethereum', $1, $2, $3, $4, $5, now(), 'infinity')`,
    [block?.hash, block?.height, deposit?.outpoint, deposit?.id, booked.id],
  );
  await eventually(async () =>
    expect(await readiness()).toHaveProperty('body.without', [
      expect.stringMatching(`${deposit?.outpoint}.*credited already, compare it with another node`),
    ]),
  );
  await fixture.rows(
    `update contradictions set ended_at = now(), outcome = 'earlier' where outpoint = $1 and ended_at is null`,
    [deposit?.outpoint],
  );
  await eventually(async () => expect(await readiness()).not.toHaveProperty('body.without'));
});

it('a contradiction ends when its block leaves the chain', async () => {
  const doubted = await anInvoice();
  const { block: a } = await pay(doubted.to, DUE);
  const [b] = fixture.chain.mine({});
  lie = (block) => (block.hash === b?.hash ? withPayments(block, paymentTo(a, doubted.to)) : block);
  await fixture.scan();
  await reorg(1, ...empty(DEEP));
  expect(await outcomesOf(doubted)).toEqual(['reorganised']);
  expect(await doubted.settled()).toEqual([`deposit.settled ${DUE}`]);
});

it('a payment that one answer lists twice counts once', async () => {
  const invoice = await anInvoice();
  const [b] = fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
  const payment = paymentTo(b, invoice.to);
  lie = (block) => (block.hash === b?.hash ? withPayments(block, payment, payment) : block);
  await fixture.scan();
  await blocks(DEEP);
  expect(await invoice.settled()).toEqual([`deposit.settled ${DUE}`]);
});

it('a transfer out of an address that is in two blocks counts once', async () => {
  const [invoice, other] = [await anInvoice(), await anInvoice()];
  fixture.chain.mine({ pay: [{ to: invoice.to, amount: DUE }] });
  const [a] = await mine({ spend: [{ from: invoice.to, amount: DUE }] });
  const [b] = fixture.chain.mine({});
  lie = (block) => (block.hash === b?.hash ? { ...block, spends: a?.spends ?? [] } : block);
  await mine({ pay: [{ to: other.to, amount: DUE }] }, ...empty(DEEP));
  expect(await other.settled()).toEqual([`deposit.settled ${DUE}`]);
  expect(await invoice.deposits()).toHaveLength(1);
});

/** Makes the node report a payment of a block that is not in the chain. */
const anyBlock = (id: string, height: number) =>
  fixture.rows(
    `insert into contradictions (chain, block_hash, block_height, outpoint, deposit_id, invoice_id, found_at, check_at)
     select chain, 'nowhere', $2, outpoint, id, invoice_id, now(), '2026-01-01' from deposits where invoice_id = $1`,
    [id, height],
  );

it('a payment from a block outside the chain is held only until the block is known to be outside', async () => {
  const doubted = await anInvoice();
  await pay(doubted.to, DUE);
  await anyBlock(doubted.id, fixture.chain.height());
  await blocks(DEEP);
  expect(await outcomesOf(doubted)).toEqual(['reorganised']);
  expect(await doubted.settled()).toEqual([`deposit.settled ${DUE}`]);
});

it('a contradicted payment stays held and is logged when the node lacks its block', async () => {
  const doubted = await anInvoice();
  await pay(doubted.to, DUE);
  await anyBlock(doubted.id, -1);
  const errors = jest.spyOn(fixture.ports.logger, 'error');
  await blocks(DEEP);
  await blocks(1);
  expect(errors.mock.calls.map(([, text]) => text)).toEqual([
    expect.stringContaining('the node lacks a block of a contradicted payment'),
  ]);
  errors.mockRestore();
  expect(await doubted.settled()).toEqual([]);
  expect(await outcomesOf(doubted)).toEqual([null]);
  await fixture.rows(
    "update contradictions set ended_at = now(), outcome = 'earlier' where ended_at is null",
  );
});

it('a contradiction that is found again holds the deposit that it now concerns', async () => {
  const [first, second] = [await anInvoice(), await anInvoice()];
  await mine({ pay: [first, second].map(({ to }) => ({ to, amount: DUE })) });
  for (const { id: invoiceId } of [first, second]) {
    const [{ id }] = await fixture.rows('select id from deposits where invoice_id = $1', [invoiceId]);
    const deposit = { depositId: id as DepositId, invoiceId: invoiceId as InvoiceId };
    await fixture.ports.db.transaction((trx) =>
      saveContradictions(
        trx,
        'ethereum',
        [{ blockHash: 'b', blockHeight: -1, outpoint: 'o', ...deposit }],
        new Date(),
      ),
    );
    await fixture.rows(
      "update contradictions set ended_at = now(), outcome = 'later' where block_hash = 'b'",
    );
  }
  expect(await outcomesOf(second)).toEqual(['later']);
});

import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { patient } from '@quittance/testkit/patience';
import { newTx, type Script } from './scripted-chain.ts';
import { ETHER, MINUTE, startWorld, type Told, type World } from './world.ts';

/** Dust is cheap: anybody may pay an invoice thousands of times, and nobody else may feel it. */

const MANY = 3_000;
const DUST = 10_000_000_000_000n;

let world: World;
beforeAll(async () => {
  world = await startWorld();
  await world.scan();
});
afterAll(() => world.stop());

const kindsOf = (told: readonly Told[]) => Map.groupBy(told, ({ kind }) => kind);
const height = async () => (await world.rows('select height from cursors'))[0].height;

function dust(invoice: { address: { address: string } }, count = MANY): Script {
  const [to, tx] = [invoice.address.address.toLowerCase(), newTx()];
  return { pay: Array.from({ length: count }, (_, index) => ({ to, amount: DUST, tx, index })) };
}

it('thousands of late payments in one block are one event, and the chain goes on', async () => {
  const merchant = world.merchant();
  const invoice = await merchant.invoice({ expires_in: 1 });
  world.pass(2 * MINUTE);
  world.chain.mine({});
  await world.scan();

  const began = performance.now();
  world.chain.mine(dust(invoice), {}, {}, {});
  await world.scan();
  expect(performance.now() - began).toBeLessThan(patient(30_000));
  expect(await height()).toBe(world.chain.height());

  const deposits = await world.rows(
    'select state, disposition, count(*)::int from deposits where invoice_id = $1 group by 1, 2',
    [invoice.id],
  );
  expect(deposits).toEqual([{ state: 'settled', disposition: 'unresolved', count: MANY }]);
  const told = kindsOf(await world.told(invoice.id));
  expect(told.get('deposit.settled')).toHaveLength(MANY);
  const late = told.get('invoice.late_payment') ?? [];
  expect(late).toHaveLength(1);
  expect(late[0]?.payload.data).toMatchObject({ status: 'expired', payments_total: MANY });
  expect(late[0]?.payload.data.payments).toHaveLength(100);
  expect(JSON.stringify(late[0]?.payload).length).toBeLessThan(64_000);

  const shown = await merchant.read(invoice.id);
  expect(shown.payments_total).toBe(MANY);
  expect(shown.payments).toHaveLength(1_000);

  // What comes later is told again, and is the newest of those that are listed.
  world.pass(MINUTE);
  world.chain.mine(dust(invoice, 2));
  await world.scan();
  const again = kindsOf(await world.told(invoice.id)).get('invoice.late_payment') ?? [];
  expect(again).toHaveLength(2);
  expect(again[1]?.payload.version).toBeGreaterThan(late[0]?.payload.version);
  expect(again[1]?.payload.data.payments_total).toBe(MANY + 2);
  expect(again[1]?.payload.data.payments.at(-1)).toMatchObject({ output_index: 1, confirmations: 1 });
});

it('thousands that lose their block are one event too', async () => {
  const merchant = world.merchant();
  const invoice = await merchant.invoice();
  world.chain.mine(dust(invoice));
  await world.scan();
  world.chain.reorg(1, {}, {});
  await world.scan();
  expect(await height()).toBe(world.chain.height());
  const told = kindsOf(await world.told(invoice.id));
  expect(told.get('invoice.payment_reversed')).toHaveLength(1);
  expect(await merchant.read(invoice.id)).toMatchObject({ pending_amount: '0' });
});

it('an invoice that is paid is told once of what thousands add to it', async () => {
  const merchant = world.merchant();
  const invoice = await merchant.invoice();
  const to = invoice.address.address.toLowerCase();
  world.chain.mine({ pay: [{ to, amount: ETHER / 100n }] }, {}, {});
  await world.scan();
  await world.credit();
  world.chain.mine(dust(invoice), {}, {});
  await world.scan();
  const told = kindsOf(await world.told(invoice.id));
  expect(told.get('invoice.overpaid')).toHaveLength(1);
  expect(told.get('deposit.settled')).toHaveLength(MANY + 1);
  expect(await merchant.read(invoice.id)).toMatchObject({ status: 'paid', paid_amount: '0.04' });
});

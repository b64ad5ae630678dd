import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openWallet } from '@quittance/chains/solana/wallet';
import { type Bus, connectBus } from '@quittance/shared/bus';
import { commandSubject, commands } from '@quittance/shared/commands';
import { createLogger } from '@quittance/shared/logger';
import { api } from '@quittance/testkit/api';
import { refillAddressPool } from '../src/address-pool.ts';
import { MINUTE, openFixture } from './fixture.ts';
import { newTx, type Script } from './scripted-chain.ts';

const WORDS = 'legal winner thank year wave sausage worth useful legal winner thank yellow';
/** The amount due of an invoice of 25 dollars: 0.25 SOL. */
const DUE = 250_000_000n;

let keyHolder: Bus;
// It is closed before the fixture stops its NATS.
afterAll(() => keyHolder.close());
const { fixture, mine, anInvoice, withFresh } = await openFixture({ chain: 'solana' });
/** The answer of the signer. A test can replace it. */
let answer: (addresses: string[]) => string[] | Promise<string[]>;
const asked: { from: number; count: number }[] = [];

beforeAll(async () => {
  const wallet = openWallet(WORDS);
  answer = (addresses) => addresses;
  keyHolder = await connectBus({
    url: fixture.natsUrl,
    service: 'signer',
    logger: createLogger('test', 'silent'),
  });
  keyHolder.answer(commandSubject('addresses.derive'), async (body) => {
    const { from, count } = commands['addresses.derive'].request.parse(body);
    asked.push({ from, count });
    return {
      addresses: await answer(Array.from({ length: count }, (_, i) => wallet.depositAddress(from + i))),
    };
  });
});

const AHEAD = 20;

function refill(ports = fixture.ports) {
  const { storedPool } = fixture.watchedChain;
  if (storedPool === undefined) throw new Error('this chain’s addresses are named by the key holder');
  return refillAddressPool(ports, 'solana', storedPool);
}
const ready = async () => await fixture.rows('select * from address_pool order by derivation_index');

describe('addresses that only the signer can derive', () => {
  it('are missing at first: 503, and nothing is created', async () => {
    const { account } = fixture.merchant();
    const order = { account, body: { asset: 'SOL', amount: 25 }, now: fixture.clock.now() };
    const refused = await api(fixture.service.port, 'POST', '/api/invoices', order);
    expect(refused.status).toBe(503);
    expect(refused.headers).toHaveProperty('retry-after');
    expect(await fixture.rows('select 1 from invoices')).toEqual([]);
  });

  it('are requested until enough are ready, each index once', async () => {
    expect(await refill()).toBe(AHEAD);
    expect(await refill()).toBe(0);
    const first = await ready();
    expect(first.map(({ derivation_index }) => derivation_index)).toEqual(
      Array.from({ length: AHEAD }, (_, i) => i),
    );
    const invoice = await fixture.merchant().invoice({ asset: 'SOL' });
    expect(invoice.address).toEqual({
      address: first[0].address,
      uri: expect.stringMatching(
        new RegExp(`^solana:${first[0].address}\\?amount=0\\.25&reference=\\w{32,44}$`),
      ),
    });
    expect(await refill()).toBe(1);
    expect(asked.at(-1)).toEqual({ from: AHEAD, count: 1 });
  });

  it('are given out once each by two concurrent replicas while payouts is down', async () => {
    const other = await fixture.replica();
    const before = await ready();
    const [one, two] = [fixture.merchant(), fixture.merchant()];
    const order = (port: number, account: string) =>
      api(port, 'POST', '/api/invoices', {
        account: account as typeof one.account,
        body: { asset: 'USDC_SOL', amount: 25 },
        now: fixture.clock.now(),
      });
    const answers = await Promise.all(
      Array.from({ length: AHEAD + 5 }, (_, i) =>
        i % 2 === 0 ? order(fixture.service.port, one.account) : order(other.port, two.account),
      ),
    );
    const made = answers.filter(({ status }) => status === 201).map(({ body }) => body.data.address.address);
    expect(new Set(made)).toEqual(new Set(before.map(({ address }) => address)));
    expect(made).toHaveLength(AHEAD);
    expect(answers.filter(({ status }) => status === 503)).toHaveLength(5);
    expect(await ready()).toEqual([]);
  });

  it('are stored once per index when two replicas refill at once', async () => {
    const saved = await Promise.all([refill(), refill(), refill()]);
    expect(saved.reduce((sum, count) => sum + count, 0)).toBe(AHEAD);
    const indexes = (await ready()).map(({ derivation_index }) => derivation_index);
    expect(new Set(indexes).size).toBe(AHEAD);
  });

  const given = async () => (await fixture.rows('select address from addresses limit 1'))[0].address;
  const invalid = 'the signer returned invalid addresses of solana';
  it.each<[string, typeof answer, string]>([
    ['too few', (addresses) => addresses.slice(1), invalid],
    ['too many', (addresses) => [...addresses, ...addresses], invalid],
    ['one twice', ([first = '', , ...rest]) => [first, first, ...rest], invalid],
    ['31 bytes', ([, ...rest]) => ['1111111111111111111111111111111', ...rest], invalid],
    ['no base58', ([, ...rest]) => ['0OIl', ...rest], invalid],
    ['of another chain', ([, ...rest]) => ['0x00000000000000000000000000000000000000aa', ...rest], invalid],
    ['nothing', () => [], invalid],
    [
      'given out before',
      async ([, ...rest]) => [await given(), ...rest],
      'the signer derives an address for one index only',
    ],
  ])('are refused when they are %s', async (_what, spoil, message) => {
    await fixture.rows('delete from address_pool');
    answer = spoil;
    try {
      await expect(refill()).rejects.toThrow(message);
    } finally {
      answer = (addresses) => addresses;
    }
    expect(await ready()).toEqual([]);
    expect(await refill()).toBe(AHEAD);
  });
});

describe('on Solana', () => {
  const slots = (...gaps: number[]): Script[] => gaps.map((gap) => ({ gap }));

  it('a payment is recorded when its block is confirmed, and paid when it is final', async () => {
    const invoice = await anInvoice({ asset: 'USDC_SOL' });
    const tx = newTx();
    const paying = { to: invoice.to, amount: 25_000_000n, asset: 'USDC_SOL' as const, tx, index: 5 };
    fixture.chain.wait(paying);
    await fixture.scan();
    await invoice.expectShown({
      status: 'confirmed',
      pending_amount: '25',
      payments: [{ tx_hash: tx, confirmations: 0, required_confirmations: 1 }],
    });
    await mine(...slots(0, 3), { pay: [paying], gap: 7 });
    await invoice.expectShown({
      status: 'confirmed',
      paid_amount: '25',
      payments: [{ status: 'confirmed', block_height: fixture.chain.height() }],
    });
    await fixture.credit();
    await invoice.expectReported('deposit.settled', 'invoice.confirmed', 'invoice.paid');
  });

  it('slots without a block do not stop the scanner', async () => {
    const { to, expectShown } = await anInvoice();
    await mine(...slots(100, 1, 0, 0, 40), { pay: [{ to, amount: DUE }] }, ...slots(9));
    await expectShown({ status: 'confirmed', paid_amount: '0.25' });
    expect((await fixture.rows('select height from cursors'))[0].height).toBe(fixture.chain.height());
  });

  it('the scanner starts before the first invoice, also where slots are missing', () =>
    withFresh({ chain: 'solana' }, async (fresh) => {
      for (let i = 0; i < 60; i++) {
        fresh.chain.mine({ gap: i % 4 });
        fresh.pass(MINUTE);
      }
      const address = openWallet(WORDS).depositAddress(0);
      await fresh.rows(`insert into address_pool values ('solana', 0, '${address}')`);
      const { to, expectShown } = await fresh.anInvoice();
      fresh.chain.mine({ pay: [{ to, amount: DUE }], gap: 2 }, ...slots(1, 2));
      await fresh.scan();
      await expectShown({ status: 'confirmed', paid_amount: '0.25' });
    }));
});

import { describe, expect, it } from '@jest/globals';
import { readSignature } from '@quittance/chains/signing';
import type { Chain } from '@quittance/shared/assets';
import { signerSuite } from './signer-fixture.ts';
import { aSweep, aTransfer, bumped, type OrderOfPayouts, others } from './signer-orders.ts';

const fixture = await signerSuite();
const signatures = async () => ({ signatures: 0, ...(await fixture.rows()) }).signatures;

describe('an order', () => {
  it('is signed with the same bytes within one request and in the next, which are not kept for a wallet of the phrase, and recorded once', async () => {
    const order = aTransfer(fixture.hold('1'));
    const { signed, refused } = await fixture.sign('ethereum', [order, order]);
    fixture.around.holds.clear();
    fixture.around.ledgerAnswers = false;
    const again = await fixture.sign('ethereum', [order]);
    expect([signed[1], refused]).toEqual([signed[0], null]);
    expect(readSignature(signed[0]).raw).toMatch(/^0x02/);
    expect(again).toEqual({ signed: signed.slice(1), refused: null });
    expect(await fixture.rows()).toEqual({
      cleared_payouts: 1,
      signatures: 1,
      signed_payouts: 1,
      wallets: 1,
    });
    expect(await fixture.db.rows('select signed from signatures')).toEqual([{ signed: null }]);
  });

  it('is the same when its names come in another order', async () => {
    const { order, payouts } = aTransfer(fixture.hold('1'));
    const turned = Object.fromEntries(Object.entries(order).toReversed()) as OrderOfPayouts['order'];
    const first = await fixture.sign('ethereum', [{ order, payouts }]);
    expect(await fixture.sign('ethereum', [{ order: turned, payouts }])).toEqual(first);
    expect(await signatures()).toBe(1);
  });

  it('is not signed for the first time when it is asked for late, and signed again at any time', async () => {
    const order = aTransfer(fixture.hold('1'));
    const { ports } = fixture;
    const ago = (ms: number) => new Date(ports.clock.now().getTime() - ms);
    const late = await fixture.sign('ethereum', [order], false, ports, ago(9_001));
    expect(late).toMatchObject({ signed: [], refused: { because: 'the question came late' } });
    expect(await fixture.rows()).toEqual({});
    const { signed } = await fixture.sign('ethereum', [order], false, ports, ago(8_000));
    expect(signed).toHaveLength(1);
    expect(await fixture.sign('ethereum', [order], false, ports, ago(60_000))).toEqual({
      signed,
      refused: null,
    });
  });

  it('that is refused keeps those behind it from being signed, and not those before it', async () => {
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
    expect(await signatures()).toBe(1);
  });

  it('that was not signed before is refused when only known ones are asked for', async () => {
    const order = aTransfer(fixture.hold('1'));
    const [known] = (await fixture.sign('ethereum', [order])).signed;
    const { signed, refused } = await fixture.sign('ethereum', [order, bumped(order)], true);
    expect(signed).toEqual([known]);
    expect(refused).toMatchObject({ because: 'not signed before' });
  });

  it('that is signed is logged without its bytes', async () => {
    const { signed } = await fixture.sign('ethereum', [aTransfer(fixture.hold('1'))]);
    const [{ raw, txHash }] = signed.map(readSignature) as [ReturnType<typeof readSignature>];
    const said = fixture.lines.filter(({ msg }) => msg === 'a transaction is signed');
    expect(said).toMatchObject([
      { chain: 'ethereum', tx_hash: txHash, payouts: ['1'], amounts: ['1000 ETH'] },
    ]);
    expect(JSON.stringify(fixture.lines)).not.toContain(raw.slice(0, 40));
  });
});

it('a sweep is signed without asking anybody', async () => {
  const { signed, refused } = await fixture.sign('ethereum', [aSweep()]);
  expect([signed.length, refused]).toEqual([1, null]);
  expect(fixture.around.asked).toEqual([]);
});

describe('nothing is signed', () => {
  const held =
    (order: Parameters<typeof aTransfer>[1], hold: Parameters<typeof fixture.hold>[1] = {}) =>
    () =>
      aTransfer(fixture.hold('1', hold), order);

  it.each<[string, () => OrderOfPayouts, string]>([
    ['for a payout without a hold', () => aTransfer('1'), 'the ledger has no hold for the payout'],
    ['for a payout whose hold has ended', held({}, { is_placed: false }), 'the hold of the payout has ended'],
    ['for a hold without an address', held({}, { destination: null }), 'the payout is for another address'],
    ['to another address than is held', held({ to: others.ethereum }), 'the payout is for another address'],
    ['of more than is held', held({ amount: 1_001n as never }), 'the payout is of another amount'],
    ['of less than is held', held({ amount: 999n as never }), 'the payout is of another amount'],
    ['of another asset than is held', held({ asset: 'USDC_ERC20' }), 'the payout is of another asset'],
  ])('%s', async (_what, order, because) => {
    const { signed, refused } = await fixture.sign('ethereum', [order()]);
    expect(signed).toEqual([]);
    expect(refused).toMatchObject({ because, payouts: ['1'] });
    expect(await fixture.rows()).toEqual({});
    expect(fixture.lines).toMatchObject([{ level: 'error', msg: 'an order is not signed', because }]);
  });

  const notOfPayouts = { because: 'its payouts are not its recipients' };
  const notOfChain = { because: 'the order is none of this chain' };
  const foreign = { payouts: [], foreign: [others.ethereum] };
  const onBase = { asset: 'USDC_BASE' } as const;
  it.each<[string, () => OrderOfPayouts, object, Chain?]>([
    ['that pays somebody and names no payout', () => ({ ...held({})(), payouts: [] }), notOfPayouts],
    ['that pays one recipient for two payouts', () => ({ ...held({})(), payouts: ['1', '2'] }), notOfPayouts],
    ['that moves nothing and names a payout', () => ({ ...aSweep(), payouts: ['2'] }), notOfPayouts],
    ['that sweeps an address of another wallet', () => aSweep({ address: others.ethereum }), foreign],
    ['that is no order of the chain', held({}), notOfChain, 'bitcoin'],
    ['of a token that is not configured', held(onBase, onBase), notOfChain, 'base'],
  ])('%s, and nobody is asked', async (_what, order, why, chain = 'ethereum') => {
    fixture.hold('2');
    expect(await fixture.sign(chain, [order()])).toMatchObject({ signed: [], refused: why });
    expect(await fixture.rows()).toEqual({});
    expect(fixture.around.asked).toEqual([]);
  });

  it('from another hot wallet', async () => {
    const { refused } = await fixture.sign('ethereum', [held({ hot: others.ethereum })()]);
    expect(refused).toMatchObject(foreign);
  });

  it('that the code of the chain cannot sign, and those before it are', async () => {
    const [one, two] = [fixture.hold('1'), fixture.hold('2', { amount: '0' })];
    const { signed, refused } = await fixture.sign('ethereum', [
      aTransfer(one),
      aTransfer(two, { nonce: 1, amount: 0n as never }),
    ]);
    expect([signed.length, refused?.because]).toEqual([1, 'the order is none of this chain']);
    expect(fixture.lines).toContainEqual(expect.objectContaining({ msg: 'an order cannot be signed' }));
  });

  it('while the ledger does not answer', async () => {
    fixture.around.ledgerAnswers = false;
    const { refused } = await fixture.sign('ethereum', [aTransfer('1')]);
    expect(refused).toEqual({
      because: 'the ledger did not answer',
      payouts: [],
      foreign: [],
      again_after_ms: 1_000,
    });
    fixture.around.ledgerAnswers = true;
    expect((await fixture.sign('ethereum', [aTransfer(fixture.hold('1'))])).refused).toBeNull();
  });

  it('on a chain that is not configured', async () => {
    await expect(fixture.sign('polygon', [aTransfer(fixture.hold('1'))])).rejects.toThrow(
      'is not configured',
    );
    expect(await fixture.rows()).toEqual({});
  });
});

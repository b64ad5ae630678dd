import { describe, expect, it } from '@jest/globals';
import { readSignature } from '@quittance/chains/signing';
import { signerSuite } from './signer-fixture.ts';
import { aSweep, aTransfer, bumped, type OrderOfPayouts, others } from './signer-orders.ts';

const fixture = await signerSuite();
const nothing = { signatures: 0 };
const signatures = async () => ({ signatures: 0, ...(await fixture.rows()) }).signatures;

describe('an order', () => {
  it('is signed twice with the same bytes, and recorded once', async () => {
    const order = aTransfer(fixture.hold('1'));
    const first = await fixture.sign('ethereum', [order]);
    fixture.around.holds.clear();
    fixture.around.ledgerAnswers = false;
    const again = await fixture.sign('ethereum', [order]);
    expect(first.refused).toBeNull();
    expect(first.signed.map(readSignature)).toMatchObject([{ raw: expect.stringMatching(/^0x02/) }]);
    expect(again).toEqual(first);
    expect(await fixture.rows()).toEqual({
      cleared_payouts: 1,
      signatures: 1,
      signed_payouts: 1,
      wallets: 1,
    });
  });

  it('is the same when its names come in another order', async () => {
    const { order, payouts } = aTransfer(fixture.hold('1'));
    const turned = Object.fromEntries(Object.entries(order).toReversed()) as OrderOfPayouts['order'];
    const first = await fixture.sign('ethereum', [{ order, payouts }]);
    expect(await fixture.sign('ethereum', [{ order: turned, payouts }])).toEqual(first);
    expect(await signatures()).toBe(1);
  });

  it('is signed twice within one request', async () => {
    const order = aTransfer(fixture.hold('1'));
    const { signed, refused } = await fixture.sign('ethereum', [order, order]);
    expect(refused).toBeNull();
    expect(signed[1]).toEqual(signed[0]);
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

describe('a sweep', () => {
  it('is signed without asking anybody', async () => {
    const { signed, refused } = await fixture.sign('ethereum', [aSweep()]);
    expect([signed.length, refused]).toEqual([1, null]);
    expect(fixture.around.asked).toEqual([]);
  });

  it('of an address whose key is not in this wallet is refused', async () => {
    const { refused } = await fixture.sign('ethereum', [aSweep({ address: others.ethereum })]);
    expect(refused).toMatchObject({ payouts: [], foreign: [others.ethereum] });
    expect(await fixture.rows()).toEqual({});
  });
});

describe('nothing is signed', () => {
  it.each<[string, Parameters<typeof aTransfer>[1], string]>([
    ['to another address', { to: others.ethereum }, 'the payout is for another address'],
    ['of more', { amount: 1_001n as never }, 'the payout is of another amount'],
    ['of less', { amount: 999n as never }, 'the payout is of another amount'],
    ['of another asset', { asset: 'USDC_ERC20' }, 'the payout is of another asset'],
  ])('%s than is held', async (_what, given, because) => {
    const { signed, refused } = await fixture.sign('ethereum', [aTransfer(fixture.hold('1'), given)]);
    expect(signed).toEqual([]);
    expect(refused).toMatchObject({ because, payouts: ['1'] });
    expect(await fixture.rows()).toEqual({});
  });

  it.each([
    ['for a payout without a hold', () => '1', 'the ledger has no hold for the payout'],
    [
      'for a payout whose hold has ended',
      () => fixture.hold('1', { is_placed: false }),
      'the hold of the payout has ended',
    ],
    [
      'for a hold without an address',
      () => fixture.hold('1', { destination: null }),
      'the payout is for another address',
    ],
  ])('%s', async (_what, payout, because) => {
    const { refused } = await fixture.sign('ethereum', [aTransfer(payout())]);
    expect(refused).toMatchObject({ because, payouts: ['1'] });
    expect(await signatures()).toBe(0);
    expect(fixture.lines).toMatchObject([{ level: 'error', msg: 'an order is not signed', because }]);
  });

  it.each<[string, (order: OrderOfPayouts) => OrderOfPayouts]>([
    ['for nobody', ({ order }) => ({ order, payouts: [] })],
    ['for two payouts with one recipient', ({ order }) => ({ order, payouts: ['1', '2'] })],
  ])('that pays somebody %s', async (_what, change) => {
    fixture.hold('2');
    const { refused } = await fixture.sign('ethereum', [change(aTransfer(fixture.hold('1')))]);
    expect(refused).toMatchObject({ because: 'its payouts are not its recipients' });
    expect(await signatures()).toBe(0);
  });

  it('that moves nothing and names a payout', async () => {
    const { refused } = await fixture.sign('ethereum', [{ ...aSweep(), payouts: [fixture.hold('1')] }]);
    expect(refused).toMatchObject({ because: 'its payouts are not its recipients' });
  });

  it('from another hot wallet', async () => {
    const { refused } = await fixture.sign('ethereum', [
      aTransfer(fixture.hold('1'), { hot: others.ethereum }),
    ]);
    expect(refused).toMatchObject({ payouts: [], foreign: [others.ethereum] });
  });

  it('that is no order of the chain', async () => {
    const { order, payouts } = aTransfer(fixture.hold('1'));
    const { refused } = await fixture.sign('bitcoin', [{ order, payouts }]);
    expect(refused).toMatchObject({ because: 'the order is none of this chain' });
  });

  it('of a token that is not configured', async () => {
    const payout = fixture.hold('1', { asset: 'USDC_BASE' });
    const { refused } = await fixture.sign('base', [aTransfer(payout, { asset: 'USDC_BASE' })]);
    expect(refused).toMatchObject({ because: 'the order is none of this chain' });
    expect(fixture.around.asked).toEqual([]);
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
    expect({ signatures: await signatures() }).toEqual(nothing);
  });
});

import { describe, expect, it } from '@jest/globals';
import { newDepositId } from '@quittance/shared/ids';
import { BITCOIN, bitcoinSuite, type Deposit } from './bitcoin-fixture.ts';

/** Fewer confirmations do not prove that a payment can never be mined. */
const PROOF_CONFIRMATIONS = 6;

/** UTXOs that are spent elsewhere, reversed, or mined again, on a real Bitcoin node. */
const fixture = bitcoinSuite();

describe('a deposit whose block was dropped and that is mined again as another deposit', () => {
  const again = ({ payload }: Deposit) => ({ ...payload, deposit_id: newDepositId(new Date()) });
  const utxo = () =>
    fixture.db.rows('select source_deposit_id, state, reversed_at is not null as reversed from utxos');

  it('waits for the reversal of the earlier one, and is spent like any other', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const later = again(deposit);
    await expect(fixture.settled(later)).rejects.toThrow('one deposit for each output');
    expect(await fixture.db.rows('select deposit_id from unswept_deposits')).toHaveLength(1);
    await fixture.reversed(deposit.payload);
    await fixture.settled(later);
    const standing = [{ source_deposit_id: later.deposit_id, state: 'available', reversed: false }];
    expect(await utxo()).toEqual(standing);
    // Late events of the earlier one change nothing.
    await fixture.reversed(deposit.payload);
    await fixture.settled(deposit.payload);
    expect(await utxo()).toEqual(standing);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.expectPaid(payout);
    const all = 'select deposit_id, state, reversed_at from unswept_deposits order by created_at';
    expect(await fixture.db.rows(all)).toEqual([
      { deposit_id: deposit.payload.deposit_id, state: 'held', reversed_at: expect.any(Date) },
      { deposit_id: later.deposit_id, state: 'swept', reversed_at: null },
    ]);
  });

  it('is reversed as well, in whichever order the events arrive', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const later = again(deposit);
    await fixture.reversed(later);
    expect(await utxo()).toMatchObject([{ source_deposit_id: deposit.payload.deposit_id, reversed: false }]);
    await fixture.reversed(deposit.payload);
    await fixture.settled(later);
    expect(await utxo()).toMatchObject([{ reversed: true }]);
    const last = again(deposit);
    await fixture.settled(last);
    expect(await utxo()).toMatchObject([{ source_deposit_id: last.deposit_id, reversed: false }]);
  });

  it('stays with the transaction that spends it', async () => {
    const { deposit, ...payout } = await fixture.send();
    const later = again(deposit);
    await fixture.reversed(deposit.payload);
    await fixture.settled(later);
    expect(
      await fixture.db.rows(`select source_deposit_id, state from utxos where branch = 'deposit'`),
    ).toEqual([{ source_deposit_id: later.deposit_id, state: 'locked' }]);
    const unswept = (id: string) =>
      fixture.db.one(`select state from unswept_deposits where deposit_id = $1`, [id]);
    expect(await unswept(later.deposit_id)).toEqual({ state: 'sweeping' });
    await fixture.expectPaid(payout);
    expect(await unswept(later.deposit_id)).toEqual({ state: 'swept' });
  });
});

describe('a UTXO that another party spends', () => {
  const elsewhere = async (deposit: Deposit) =>
    (await fixture.spendAll(deposit, fixture.newRecipient(), 50_000n)).raw;

  it('fails the payout when the spending transaction is six blocks deep, and not earlier', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    const other = await fixture.deposit(BITCOIN / 2n);
    const payout = await fixture.reserve((BITCOIN * 5n) / 4n);
    await fixture.run();
    await fixture.mineOnly([await elsewhere(deposit)]);
    await fixture.node.mine(PROOF_CONFIRMATIONS - 2);
    for (let i = 0; i < 15; i++) await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    expect(await fixture.published(payout.id)).toEqual(['payout.created']);
    await fixture.node.mine(1);
    await fixture.run();
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('failed');
    expect(await fixture.published(payout.id)).toEqual(['payout.created', 'hold.release', 'payout.failed']);
    const utxos = await fixture.utxos();
    const stateOf = (outpoint: string) => utxos.find((utxo) => utxo.outpoint === outpoint);
    expect(stateOf(other.outpoint)).toMatchObject({ state: 'available', reversed_at: null });
    expect(stateOf(deposit.outpoint)).toMatchObject({ state: 'available', reversed_at: expect.any(Date) });
    const again = await fixture.reserve(BITCOIN / 4n);
    await fixture.expectPaid(again);
  });

  it('does not make other payouts wait for change that may never come', async () => {
    const { deposit, ...lost } = await fixture.send();
    await fixture.mineOnly([await elsewhere(deposit)]);
    await fixture.deposit(BITCOIN / 10n);
    const larger = await fixture.reserve(BITCOIN / 2n);
    const small = await fixture.reserve(BITCOIN / 20n);
    await fixture.run();
    await fixture.run();
    expect(await fixture.statusOf(small)).toBe('broadcast');
    expect(await fixture.statusesOf(lost, larger)).toEqual(['broadcast', 'reserved']);
  });

  it('in a block that is dropped again fails no payout', async () => {
    const { deposit, ...payout } = await fixture.send();
    await fixture.mineOnly([await elsewhere(deposit)]);
    await fixture.node.mine(1);
    for (let i = 0; i < 15; i++) await fixture.run();
    await fixture.node.reorganise(2);
    await fixture.loseMempool();
    await fixture.expectPaid(payout);
  });

  it('before we sign with it pauses signing until an operator decides', async () => {
    const deposit = await fixture.deposit(BITCOIN);
    await fixture.mineOnly([await elsewhere(deposit)]);
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('reserved');
    expect(fixture.ports.signingPause.reason).toMatch(/does not know/);
    fixture.expectLogged({ msg: 'nothing is signed' });
    await fixture.db.rows(`update utxos set reversed_at = now() where outpoint = $1`, [deposit.outpoint]);
    await fixture.deposit(BITCOIN);
    await fixture.expectPaid(payout);
  });
});

describe('a deposit that is double-spent', () => {
  it('fails a waiting payout that spends it when that is proved', async () => {
    const customer = await fixture.deposit(3n * BITCOIN, { settled: false });
    // The test can spend the customer's UTXO twice.
    const index = customer.index + 1_000_000;
    const paysUs = await fixture.spendAll(customer, fixture.wallet.address('deposit', index), 1_000n);
    const paysThem = await fixture.spendAll(customer, fixture.newRecipient(), 2_000n);
    await fixture.mineOnly([paysUs.raw]);
    await fixture.node.mine(1);
    await fixture.settled({
      ...customer.payload,
      deposit_id: newDepositId(new Date()),
      amount: (customer.amount - 1_000n).toString(),
      address: fixture.wallet.address('deposit', index),
      derivation_index: index,
      outpoint: `${paysUs.txHash}:0`,
    });
    const payout = await fixture.reserve(BITCOIN);
    await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('broadcast');
    await fixture.node.reorganise(2, [[paysThem.raw]]);
    expect(await fixture.node.rpc('getrawmempool')).toEqual([]);
    await fixture.node.mine(PROOF_CONFIRMATIONS);
    for (let i = 0; i < 15; i++) await fixture.run();
    expect(await fixture.statusOf(payout)).toBe('failed');
    expect(await fixture.utxos()).toContainEqual(
      expect.objectContaining({
        outpoint: `${paysUs.txHash}:0`,
        state: 'available',
        reversed_at: expect.any(Date),
      }),
    );
  });

  it('is left out of plans, and other UTXOs are spent', async () => {
    await fixture.deposit(BITCOIN);
    const absent = await fixture.deposit(2n * BITCOIN, { settled: false });
    await fixture.settled({ ...absent.payload, outpoint: `${'ab'.repeat(32)}:0` });
    const payout = await fixture.reserve(BITCOIN / 4n);
    await fixture.expectPaid(payout);
    fixture.expectLogged({ level: 'error', msg: 'the chain does not have these UTXOs' });
    await fixture.db.rows(`update utxos set reversed_at = now() where outpoint like 'abab%'`);
  });
});

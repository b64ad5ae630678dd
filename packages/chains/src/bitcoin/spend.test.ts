import { beforeAll, describe, expect, test } from '@jest/globals';
import { type Units, units } from '@quittance/shared/money';
import { Transaction } from '@scure/btc-signer';
import {
  DUST,
  type SelectionOrder,
  type SignedSpend,
  type Spend,
  selectUtxos,
  signSpend,
  type Utxo,
} from './spend.ts';
import { keysOf, openBitcoinWallet, scriptOf } from './wallet.ts';

const wallet = openBitcoinWallet('regtest', 'test test test test test test test test test test test junk');
const someone = 'bcrt1qqurswpc8qurswpc8qurswpc8qurswpc8dxm0gk';
const taproot = 'bcrt1p0xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqc8gma6';

let utxos = 0;
function aUtxo(amount: number, given: Partial<Utxo> = {}): Utxo {
  utxos += 1;
  const outpoint = `${utxos.toString(16).padStart(64, 'a')}:${utxos % 3}`;
  return { outpoint, branch: 'deposit', index: utxos, amount: units(BigInt(amount)), ...given };
}

function select(given: Partial<SelectionOrder>) {
  return selectUtxos('regtest', wallet.hotAddress, {
    available: [],
    recipients: [{ to: someone, amount: units(100_000n) }],
    changeIndex: 3,
    feeRate: 10n,
    feeMax: units(1_000_000n),
    ...given,
  });
}

function selected(given: Partial<SelectionOrder>): Spend {
  const spend = select(given);
  if (typeof spend === 'string') throw new Error(spend);
  return spend;
}

const sum = (amounts: Units[]) => amounts.reduce((total, amount) => total + amount, 0n);

describe('coins', () => {
  test('pay recipients and fee, and what is left comes back to the change address', () => {
    const utxo = aUtxo(1_000_000);
    const spend = selected({ available: [utxo] });
    expect(spend.utxos).toEqual([utxo]);
    expect(spend.fee).toBe(1_410n);
    expect(spend.change).toEqual({ index: 3, amount: 1_000_000n - 100_000n - 1_410n });
  });

  test('are as few as can be', () => {
    const available = [aUtxo(60_000), aUtxo(500_000), aUtxo(60_000), aUtxo(60_000)];
    expect(selected({ available }).utxos).toHaveLength(1);
    const recipients = [{ to: someone, amount: units(520_000n) }];
    expect(selected({ available, recipients }).utxos).toHaveLength(2);
  });

  test('that cost more than they bring are left alone', () => {
    const available = [aUtxo(99_000), ...Array.from({ length: 30 }, () => aUtxo(690))];
    expect(select({ available })).toBe('not_enough');
  });

  test.each([
    ['nothing', [], 'not_enough'],
    ['the amount without the fee', [100_000], 'not_enough'],
    ['the amount and a satoshi less than the fee', [101_099], 'not_enough'],
  ])('%s are not enough', (_what, amounts, refusal) => {
    expect(select({ available: amounts.map((amount) => aUtxo(amount)) })).toBe(refusal);
  });

  test('leave no change that costs more to spend than it is worth: it goes with the fee', () => {
    const little = selected({ available: [aUtxo(101_800)] });
    expect([little.change, little.fee]).toEqual([null, 1_800n]);
    const enough = selected({ available: [aUtxo(102_300)] });
    expect(enough.change?.amount).toBe(890n);
    expect(selected({ available: [aUtxo(102_300)], feeRate: 12n }).change).toBeNull();
  });

  test('never pay more than the limit', () => {
    const available = [aUtxo(1_000_000)];
    expect(select({ available, feeRate: 500n, feeMax: units(1_410n) })).toBe('too_dear');
    expect(selected({ available, feeMax: units(1_410n) }).fee).toBe(1_410n);
    // An estimate beyond all reason is not believed.
    expect(selected({ available, feeRate: 1_000_000n }).fee).toBe(70_500n);
  });

  test('are not put into a transaction that nobody relays', () => {
    const available = Array.from({ length: 1_600 }, () => aUtxo(2_000));
    const recipients = [{ to: someone, amount: units(2_700_000n) }];
    expect(select({ available, recipients, feeRate: 1n })).toBe('too_large');
  });

  test('are not sent as dust, nor to an address of another network', () => {
    const available = [aUtxo(1_000_000)];
    const send = (to: string, amount: bigint) =>
      select({ available, recipients: [{ to, amount: units(amount) }] });
    expect(() => send(someone, DUST - 1n)).toThrow('dust');
    expect(() => send('tb1qqurswpc8qurswpc8qurswpc8qurswpc800zzll', 100_000n)).toThrow('no address');
    expect(send(someone, DUST)).toMatchObject({ recipients: [{ amount: DUST }] });
  });
});

describe('a replacement', () => {
  const before = aUtxo(200_000);
  const other = aUtxo(90_000);

  test('keeps every input, and pays more', () => {
    const spend = selected({ available: [before, other], required: [other, before], feeMin: units(5_000n) });
    expect(new Set(spend.utxos)).toEqual(new Set([before, other]));
    expect(spend.fee).toBeGreaterThanOrEqual(5_000n);
    expect(spend.fee).toBeLessThan(5_300n);
  });

  test('adds a coin when the ones it has do not pay for it', () => {
    const few = aUtxo(101_500);
    const spend = selected({ available: [other], required: [few], feeRate: 30n });
    expect(new Set(spend.utxos)).toEqual(new Set([few, other]));
  });

  test('is not made when it would have to pay more than the limit', () => {
    expect(select({ required: [before], feeMin: units(5_000n), feeMax: units(4_000n) })).toBe('too_dear');
  });
});

describe('a signed transaction', () => {
  const available = [
    aUtxo(300_000),
    aUtxo(400_000, { branch: 'hot', index: 0 }),
    aUtxo(350_000, { branch: 'change' }),
  ];
  const recipients = [
    { to: someone, amount: units(500_000n) },
    { to: taproot, amount: units(10_000n) },
    { to: someone.toUpperCase(), amount: units(500_000n) },
  ];
  const spend = selected({ available, recipients });
  const keys = keysOf('regtest', wallet);
  let signed: SignedSpend;
  beforeAll(async () => {
    signed = await signSpend('regtest', keys, spend);
  });

  test('has the signatures that the library gives by the private keys', () => {
    const read = Transaction.fromRaw(Buffer.from(signed.raw, 'hex'));
    const again = new Transaction();
    for (const [i, { branch, index, amount }] of spend.utxos.entries()) {
      const script = scriptOf('regtest', wallet.address(branch, index));
      const { txid, index: output, sequence } = read.getInput(i);
      again.addInput({
        ...(txid !== undefined && { txid }),
        ...(output !== undefined && { index: output }),
        ...(sequence !== undefined && { sequence }),
        witnessUtxo: { script, amount },
      });
    }
    for (let i = 0; i < read.outputsLength; i++) again.addOutput(read.getOutput(i));
    for (const [i, { branch, index }] of spend.utxos.entries())
      again.signIdx(wallet.privateKey(branch, index), i);
    again.finalize();
    expect(again.hex).toBe(signed.raw);
  });

  test('pays each recipient in turn, then the change; what goes in comes out, but for the fee', () => {
    const read = Transaction.fromRaw(Buffer.from(signed.raw, 'hex'));
    expect(read.id).toBe(signed.txHash);
    const outputs = Array.from({ length: read.outputsLength }, (_, i) => read.getOutput(i).amount);
    expect(outputs).toEqual([500_000n, 10_000n, 500_000n, spend.change?.amount]);
    expect(signed.changeOutput).toBe(3);
    expect(sum(spend.utxos.map((utxo) => utxo.amount)) - sum(outputs as Units[])).toBe(signed.fee);
    const sequences = Array.from({ length: read.inputsLength }, (_, i) => read.getInput(i).sequence);
    expect(sequences).toEqual([0xfffffffd, 0xfffffffd, 0xfffffffd]);
    const size = BigInt(signed.virtualBytes);
    expect(signed.fee).toBeGreaterThanOrEqual(size * 10n);
    expect(signed.fee).toBeLessThan((size + 5n) * 10n);
  });

  test('is not made of a coin that is not ours, or for a fee that was not decided', async () => {
    const dearer = { ...spend, fee: units(spend.fee + 1n) };
    await expect(signSpend('regtest', keys, dearer)).rejects.toThrow('the fee');
  });
});

import { describe, expect, test } from '@jest/globals';
import { ExactNumber } from '@quittance/shared/exact-json';
import {
  type BlockTransaction,
  balanceChanges,
  blockTransaction,
  feeTaken,
  Imprecise,
  rentPaid,
} from './balance-changes.ts';
import { TOKEN_2022_PROGRAM, TOKEN_PROGRAM } from './rpc.ts';

const USDC = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGkZwyTDt1v';
const OTHER_MINT = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB';
const tokens = new Map([[USDC, 'USDC_SOL' as const]]);
const [payer, ours, account, second, other] = ['A', 'B', 'C', 'D', 'E'].map((letter) =>
  letter.repeat(43),
) as [string, string, string, string, string];
const SIGNATURE = '5'.repeat(88);

type Held = { at: number; amount: number; owner?: string; mint?: string; program?: string };

const written = ({ at, amount, owner = ours, mint = USDC, program = TOKEN_PROGRAM }: Held) => ({
  accountIndex: at,
  mint,
  owner,
  programId: program,
  uiTokenAmount: { amount: String(amount), decimals: 6, uiAmount: amount / 1e6 },
});

type Given = {
  accounts: string[];
  before: unknown[];
  after: unknown[];
  tokensBefore?: Held[];
  tokensAfter?: Held[];
  err?: unknown;
};

/** As a node writes it. */
const aTransaction = ({ accounts, before, after, tokensBefore = [], tokensAfter = [], err = null }: Given) =>
  blockTransaction.parse({
    meta: {
      err,
      fee: 5_000,
      preBalances: before,
      postBalances: after,
      preTokenBalances: tokensBefore.map(written),
      postTokenBalances: tokensAfter.map(written),
    },
    transaction: {
      signatures: [SIGNATURE],
      accountKeys: accounts.map((pubkey) => ({ pubkey, signer: false })),
    },
  });

const paid = (...transactions: BlockTransaction[]) =>
  balanceChanges(transactions, tokens).payments.map(({ asset, address, amount, outputIndex }) => ({
    asset,
    address,
    amount,
    outputIndex,
  }));

describe('lamports', () => {
  test('count by what each account gained, whatever moved them, and are named by its place', () => {
    const one = aTransaction({ accounts: [payer, other, ours], before: [100, 7, 1], after: [40, 7, 56] });
    expect(balanceChanges([one], tokens)).toEqual({
      payments: [
        {
          outpoint: `${SIGNATURE}:2`,
          txHash: SIGNATURE,
          outputIndex: 2,
          asset: 'SOL',
          address: ours,
          amount: 55n,
        },
      ],
      spends: [{ txHash: SIGNATURE, address: payer, amount: 60n }],
    });
  });

  test('count in the same way when the transaction names a reference, an account that gains nothing', () => {
    const accounts = [payer, ours, other, account];
    const one = aTransaction({ accounts, before: [90, 0, 0, 0], after: [50, 30, 0, 0] });
    expect(paid(one)).toEqual([{ asset: 'SOL', address: ours, amount: 30n, outputIndex: 1 }]);
  });

  test('of several recipients are several payments', () => {
    const one = aTransaction({ accounts: [payer, ours, other], before: [90, 0, 0], after: [10, 30, 45] });
    expect(paid(one)).toEqual([
      { asset: 'SOL', address: ours, amount: 30n, outputIndex: 1 },
      { asset: 'SOL', address: other, amount: 45n, outputIndex: 2 },
    ]);
  });

  test.each<[string, [number, number], [number, number], unknown, spent: bigint[]]>([
    ['a failed transaction', [100, 0], [95, 0], { InstructionError: [0, { Custom: 1 }] }, [5n]],
    ['a failed transaction whose balances would say otherwise', [100, 0], [5, 90], 'AccountInUse', [95n]],
    ['there and back again', [100, 9], [95, 9], null, [5n]],
    ['our own loss', [5, 100], [95, 5], null, [95n]],
  ])('do not count: %s', (_, before, after, err, spent) => {
    const { payments, spends } = balanceChanges(
      [aTransaction({ accounts: [payer, ours], before, after, err })],
      tokens,
    );
    expect(payments.filter(({ address }) => address === ours)).toEqual([]);
    expect(spends.map(({ amount }) => amount)).toEqual(spent);
  });

  test('longer than a double holds are asked for again, exactly', () => {
    const long = { accounts: [payer, ours], before: [1e17 + 32, 0], after: [1e17, 9] };
    expect(() => paid(aTransaction(long))).toThrow(Imprecise);
    const exact = (text: string) => new ExactNumber(text);
    const one = aTransaction({
      ...long,
      before: [exact('100000000000000019'), 0],
      after: [exact('100000000000000003'), 9],
    });
    expect(balanceChanges([one], tokens).spends).toMatchObject([{ amount: 16n }]);
  });
});

describe('tokens', () => {
  const accounts = [payer, account, second, other];
  const still = { accounts, before: [100, 2, 2, 2], after: [95, 2, 2, 2] };

  const held = (at: number, amount: number, more: Partial<Held> = {}): Held => ({ at, amount, ...more });

  test.each<[string, before: Held[], after: Held[], paid: object[], err?: object]>([
    [
      'by what the owner of the account gained',
      [held(1, 5), held(3, 90, { owner: other })],
      [held(1, 45), held(3, 50, { owner: other })],
      [{ amount: 40n, outputIndex: 1 }],
    ],
    ['once in two accounts of one owner', [], [held(2, 3), held(1, 4)], [{ amount: 7n, outputIndex: 1 }]],
    [
      'for nothing where an owner moves them between accounts of its own',
      [held(1, 50), held(2, 0)],
      [held(1, 20), held(2, 30)],
      [],
    ],
    ['for nothing of another mint', [], [held(1, 7, { mint: OTHER_MINT })], []],
    [
      'for nothing of Token-2022, which may take a fee on the way',
      [],
      [held(1, 7, { program: TOKEN_2022_PROGRAM })],
      [],
    ],
    ['for nothing in a failed transaction', [], [held(1, 7)], [], { InstructionError: [1, 'Custom'] }],
  ])('count %s', (_, tokensBefore, tokensAfter, changed, err: object | null = null) => {
    const one = aTransaction({ ...still, tokensBefore, tokensAfter, err });
    expect(paid(one)).toEqual(changed.map((given) => ({ asset: 'USDC_SOL', address: ours, ...given })));
  });

  test('in an account that was opened for them count, and its rent is no payment', () => {
    const one = aTransaction({
      accounts,
      before: [9_000_000, 0, 0, 0],
      after: [6_955_720, 2_039_280, 0, 0],
      tokensAfter: [{ at: 1, amount: 7 }],
    });
    expect(paid(one)).toEqual([{ asset: 'USDC_SOL', address: ours, amount: 7n, outputIndex: 1 }]);
  });
});

test('what is not written as a node writes it is not read', () => {
  expect(() => aTransaction({ accounts: [], before: [], after: [] })).toThrow();
  expect(() => aTransaction({ accounts: ['0OIl'], before: [1], after: [2] })).toThrow();
  expect(() => paid(aTransaction({ accounts: [payer, ours], before: [1, 0], after: [1] }))).toThrow(
    'missing',
  );
});

const RENT = 2_039_280n;
const FEE = 5_000n;

/** Of who pays, of an account for tokens that is opened or was there, and of a program. */
const changes = (payer: bigint, account: readonly [bigint, bigint], wasThere: boolean) => ({
  preBalances: [payer, account[0], 1n],
  postBalances: [payer - FEE - (account[1] - account[0]), account[1], 1n],
  preTokenBalances: wasThere ? [{ accountIndex: 1 }] : [],
  postTokenBalances: [{ accountIndex: 1 }],
});

test.each([
  ['an account that was there takes none', [RENT, RENT], true, 0n],
  ['one that is opened takes all of it', [0n, RENT], false, RENT],
  ['one where somebody had sent lamports takes the rest', [890_880n, RENT], false, RENT - 890_880n],
] as const)('rent: %s', (_, account, wasThere, rent) => {
  const paid = changes(10n ** 9n, account, wasThere);
  expect(rentPaid(paid)).toBe(rent);
  expect(feeTaken(paid)).toBe(FEE);
});

test('nodes leave out what is empty', () => {
  expect(rentPaid({ preBalances: [2n], postBalances: [1n], preTokenBalances: null })).toBe(0n);
});

import { expect, test } from '@jest/globals';
import { feeTaken, rentPaid } from './cost.ts';

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

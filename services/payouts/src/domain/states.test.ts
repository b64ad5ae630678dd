import { describe, expect, it } from '@jest/globals';
import {
  assertMoves,
  columnPhases,
  isNodeBehind,
  type PayoutStatus,
  paidStatuses,
  payoutMoves,
  payoutStatuses,
  shownAs,
  shownStatuses,
  statusesShownAs,
  type TransactionState,
  transactionMoves,
  transactionPhases,
  transactionStates,
  unsignedStatuses,
} from './states.ts';

/** Every state that can follow, in one step or many. */
function reachable<S extends string>(moves: Record<S, readonly S[]>, from: S): Set<S> {
  const found = new Set<S>();
  const look = (state: S) => {
    for (const next of moves[state]) {
      if (found.has(next)) continue;
      found.add(next);
      look(next);
    }
  };
  look(from);
  return found;
}

/** The states that can come right before one. */
const before = <S extends string>(moves: Record<S, readonly S[]>, to: S): S[] =>
  (Object.keys(moves) as S[]).filter((from) => moves[from].includes(to));

const ends: PayoutStatus[] = ['mined', 'failed', 'refused', 'voided'];

describe('the states of a payout', () => {
  it('never come back, except from a plan that is not signed', () => {
    const { planned: _, ...others } = payoutMoves;
    const moves = { ...others, planned: ['signed'] } as Record<PayoutStatus, readonly PayoutStatus[]>;
    for (const status of payoutStatuses) expect(reachable(moves, status)).not.toContain(status);
  });

  it('can all be reached from `requested`, and an end leads nowhere', () => {
    const reached = reachable<PayoutStatus>(payoutMoves, 'requested');
    expect(reached).toEqual(new Set(payoutStatuses.filter((status) => status !== 'requested')));
    for (const end of ends) expect(payoutMoves[end]).toEqual([]);
  });

  it('are planned and signed only after a hold, and refused or voided only before', () => {
    const from = (to: PayoutStatus) => before<PayoutStatus>(payoutMoves, to);
    expect(from('signed')).toEqual(['planned']);
    expect(from('planned')).toEqual(['reserved']);
    expect(from('awaiting_approval')).toEqual(['requested']);
    expect(from('reserved')).toEqual(['requested', 'awaiting_approval', 'planned']);
    expect(from('refused')).toEqual(['requested']);
    expect(from('voided')).toEqual(['requested']);
  });

  it('are mined when a transaction pays, and fail at any time after the hold', () => {
    expect(paidStatuses).toEqual(['signed', 'broadcast']);
    expect(before<PayoutStatus>(payoutMoves, 'mined')).toEqual(paidStatuses);
    expect(before<PayoutStatus>(payoutMoves, 'failed')).toEqual([...unsignedStatuses, ...paidStatuses]);
  });

  it('are shown by the names of the contract, and a request that never became a payout is not shown', () => {
    expect(shownStatuses.map((shown) => [shown, statusesShownAs(shown)])).toEqual([
      ['pending', ['awaiting_approval', 'reserved', 'planned', 'signed', 'broadcast']],
      ['mined', ['mined']],
      ['failed', ['failed']],
    ]);
    expect(payoutStatuses.filter((status) => shownAs[status] === null)).toEqual([
      'requested',
      'refused',
      'voided',
    ]);
  });
});

it('a move that the table does not list throws', () => {
  expect(() => assertMoves<PayoutStatus>(payoutMoves, ['signed', 'broadcast'], 'failed')).not.toThrow();
  expect(() => assertMoves<PayoutStatus>(payoutMoves, ['voided'], 'reserved')).toThrow(
    'no move from voided to reserved',
  );
  expect(() => assertMoves<PayoutStatus>(payoutMoves, ['planned', 'mined'], 'signed')).toThrow('from mined');
});

describe('the states of a transaction', () => {
  it('never lead back, and an end leads nowhere', () => {
    expect(transactionMoves.signed).not.toContain('signed');
    for (const state of transactionMoves.broadcast) expect(transactionMoves[state]).toEqual([]);
    for (const end of ['mined', 'reverted', 'invalidated'] as const)
      expect(transactionMoves[end]).toEqual([]);
  });

  it('end in every way from every open state', () => {
    for (const end of ['mined', 'reverted', 'invalidated'] as const) {
      expect(before<TransactionState>(transactionMoves, end)).toEqual(['signed', 'broadcast']);
    }
    expect(before<TransactionState>(transactionMoves, 'broadcast')).toEqual(['signed']);
  });

  it('are open exactly while another state can follow', () => {
    expect(transactionStates.filter((state) => transactionMoves[state].length > 0)).toEqual([
      ...transactionPhases.open,
    ]);
  });

  it('let the chain be asked about an ended transaction, never about one that is invalidated', () => {
    expect(transactionPhases.ended).not.toContain('invalidated');
    expect(transactionStates.filter((state) => state !== 'invalidated')).toEqual([
      ...transactionPhases.open,
      ...transactionPhases.ended,
    ]);
  });

  it('are doubted and searched for only while they are open', () => {
    expect([columnPhases.doubted_at, columnPhases.searched_to]).toEqual(['open', 'open']);
  });
});

it.each([
  [new Date(0), 100, 99, true],
  [new Date(0), 100, 100, false],
  [null, 100, 99, false],
  [new Date(0), null, 99, false],
])(
  'final since %s in block %s, a node with the final block %i is behind: %s',
  (finalAt, blockHeight, finalized, expected) => {
    expect(isNodeBehind(finalized, { finalAt, blockHeight })).toBe(expected);
  },
);

import { describe, expect, it } from '@jest/globals';
import { columnPhases, transactionMoves, transactionPhases, transactionStates } from './transaction-state.ts';

describe('the states of a transaction', () => {
  it('never lead back, and an end leads nowhere', () => {
    expect(transactionMoves.signed).not.toContain('signed');
    for (const state of transactionMoves.broadcast) expect(transactionMoves[state]).toEqual([]);
    for (const end of ['mined', 'reverted', 'dead'] as const) expect(transactionMoves[end]).toEqual([]);
  });

  it('are open exactly while another state can follow', () => {
    expect(transactionStates.filter((state) => transactionMoves[state].length > 0)).toEqual([
      ...transactionPhases.open,
    ]);
  });

  it('let the chain be asked about an ended transaction, never about one that is proved dead', () => {
    expect(transactionPhases.ended).not.toContain('dead');
    expect(transactionStates.filter((state) => state !== 'dead')).toEqual([
      ...transactionPhases.open,
      ...transactionPhases.ended,
    ]);
  });

  it('are doubted and searched for only while they are open', () => {
    expect([columnPhases.doubted_at, columnPhases.searched_to]).toEqual(['open', 'open']);
  });
});

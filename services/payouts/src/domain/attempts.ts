import { type TransactionState, transactionPhases } from './states.ts';

/** What became of a transaction of a payout, as merchants see it. */
export const attemptStatuses = ['signed', 'sent', 'replaced', 'mined', 'failed', 'dropped'] as const;
export type AttemptStatus = (typeof attemptStatuses)[number];

const statusOf = {
  signed: 'signed',
  broadcast: 'sent',
  mined: 'mined',
  reverted: 'failed',
  invalidated: 'dropped',
} as const satisfies Record<TransactionState, AttemptStatus>;

const isEnded = (state: TransactionState) => transactionPhases.ended.some((ended) => ended === state);
const isOpen = (state: TransactionState) => transactionPhases.open.some((open) => open === state);

/**
 * One attempt of a payout stands for the others: the one that has ended in the chain, else the one that a block includes, else
 * the newest. All others are replaced by it.
 * @param attempts those of one group, the first one first
 */
export function attemptStatusesOf(
  attempts: readonly { state: TransactionState; blockHash: string | null }[],
): AttemptStatus[] {
  const ended = attempts.findIndex(({ state }) => isEnded(state));
  const inBlock = attempts.findIndex(({ state, blockHash }) => isOpen(state) && blockHash !== null);
  const current = [ended, inBlock].find((place) => place !== -1) ?? attempts.length - 1;
  return attempts.map(({ state }, place) => (place === current ? statusOf[state] : 'replaced'));
}

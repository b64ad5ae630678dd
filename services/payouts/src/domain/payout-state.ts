import { invariant } from '@quittance/shared/result';

export const payoutStatuses = [
  'requested',
  'reserved',
  'signed',
  'broadcast',
  'mined',
  'failed',
  'refused',
  'voided',
] as const;
export type PayoutStatus = (typeof payoutStatuses)[number];

/**
 * The statuses of a payout. Before the ledger has placed its hold, a payout is refused when the balance is too low, and
 * voided when the ledger's answer did not arrive. Nothing leaves the wallet before `signed`.
 */
export const payoutMoves = {
  requested: ['reserved', 'refused', 'voided'],
  reserved: ['signed', 'failed'],
  signed: ['broadcast', 'mined', 'failed'],
  broadcast: ['mined', 'failed'],
  mined: [],
  failed: [],
  refused: [],
  voided: [],
} as const satisfies Record<PayoutStatus, readonly PayoutStatus[]>;

export const shownStatuses = ['pending', 'mined', 'failed'] as const;
export type ShownStatus = (typeof shownStatuses)[number];

/** The status that a merchant sees; null for a request that never became a payout. */
export const shownAs = {
  requested: null,
  reserved: 'pending',
  signed: 'pending',
  broadcast: 'pending',
  mined: 'mined',
  failed: 'failed',
  refused: null,
  voided: null,
} as const satisfies Record<PayoutStatus, ShownStatus | null>;

export const statusesShownAs = (shown: ShownStatus): PayoutStatus[] =>
  payoutStatuses.filter((status) => shownAs[status] === shown);

/** A signed transaction pays a payout with one of these statuses. */
export const paidStatuses = ['signed', 'broadcast'] as const satisfies readonly PayoutStatus[];

/** Throws when the table does not list one of these moves. */
export function assertMoves<S extends string>(
  moves: Record<S, readonly S[]>,
  from: readonly S[],
  to: S,
): void {
  for (const state of from) invariant(moves[state].includes(to), `no move from ${state} to ${to}`);
}

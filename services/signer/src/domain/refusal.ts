import { CAME_LATE } from '@quittance/shared/commands';

/** Why an order is not signed. */
export type SigningRefusal = {
  because: string;
  /** Those of its payouts that it is refused for; empty when it is for something else. */
  payouts: readonly string[];
  /** Addresses or outputs of it whose keys are not in this wallet. */
  foreign: readonly string[];
  /** It may be signed after this time. */
  againAfterMs: number;
};

type Reason = { because: string; againAfterMs: number };

/** Somebody has to look into it. */
const LONG_MS = 60_000;
/** The next check of the auditor, or the next blocks, may change it. */
const SOON_MS = 5_000;
/** Who did not answer may answer a moment later. `rest` has no time: it is no refusal, and is signed in the next request. */
const SHORT_MS = 1_000;

/** Every reason for which an order is refused. */
export const reasons = {
  unknown: { because: 'not signed before', againAfterMs: SOON_MS },
  late: { because: CAME_LATE, againAfterMs: SHORT_MS },
  malformed: { because: 'the order is none of this chain', againAfterMs: LONG_MS },
  foreign: { because: 'it is for keys of another wallet', againAfterMs: LONG_MS },
  fee: { because: 'its fee is higher than the chain ever asks for', againAfterMs: LONG_MS },
  recipients: { because: 'its payouts are not its recipients', againAfterMs: LONG_MS },
  inputs: { because: 'an input was told with another amount before, or twice', againAfterMs: LONG_MS },
  signedBefore: { because: 'another transaction of the payout may still be mined', againAfterMs: SOON_MS },
  nodes: { because: 'the nodes of the chain did not answer', againAfterMs: SHORT_MS },
  ledger: { because: 'the ledger did not answer', againAfterMs: SHORT_MS },
  auditor: { because: 'the auditor did not answer', againAfterMs: SHORT_MS },
  keys: { because: 'the KMS with the key of the hot wallet did not sign', againAfterMs: SHORT_MS },
  rest: { because: 'the request has taken its time', againAfterMs: 0 },
  noHold: { because: 'the ledger has no hold for the payout', againAfterMs: LONG_MS },
  holdEnded: { because: 'the hold of the payout has ended', againAfterMs: LONG_MS },
  asset: { because: 'the payout is of another asset', againAfterMs: LONG_MS },
  amount: { because: 'the payout is of another amount', againAfterMs: LONG_MS },
  destination: { because: 'the payout is for another address', againAfterMs: LONG_MS },
  halted: { because: 'payouts of the asset are halted', againAfterMs: SOON_MS },
  notReconciled: { because: 'the asset was not reconciled lately', againAfterMs: SOON_MS },
  youngDeposits: {
    because: 'the balance rests on deposits that were not reconciled yet',
    againAfterMs: SOON_MS,
  },
  per_payout: { because: 'the payout is above the limit of one payout', againAfterMs: LONG_MS },
  per_account_24h: { because: 'the account is above its limit of 24 hours', againAfterMs: LONG_MS },
  per_hour: { because: 'the asset is above its limit of an hour', againAfterMs: LONG_MS },
  per_24h: { because: 'the asset is above its limit of 24 hours', againAfterMs: LONG_MS },
  fees_per_24h: { because: 'network fees are above their limit of 24 hours', againAfterMs: LONG_MS },
} as const satisfies Record<string, Reason>;

export type ReasonName = keyof typeof reasons;

/** Whether waiting mends nothing: the order is wrong, or a limit is too low. */
export const needsOperator = ({ againAfterMs }: SigningRefusal): boolean => againAfterMs >= LONG_MS;

/** Refuses an order as a whole. */
export const refusalOf = (name: ReasonName, foreign: readonly string[] = []): SigningRefusal => ({
  ...reasons[name],
  payouts: [],
  foreign,
});

/** Refuses an order for some of its payouts, each with its reason; undefined when there are none. */
export function refusalFor(refused: ReadonlyMap<string, ReasonName>): SigningRefusal | undefined {
  if (refused.size === 0) return undefined;
  const found = [...new Set(refused.values())].map((name) => reasons[name]);
  return {
    because: found.map(({ because }) => because).join('; '),
    payouts: [...refused.keys()],
    foreign: [],
    againAfterMs: Math.max(...found.map(({ againAfterMs }) => againAfterMs)),
  };
}

// Written by tools/generate-docs.ts from packages/shared/src/operator-views.ts.
/*
 * What services answer to `GET /api/operator/…`, for the pages of the dashboard for operators. These routes belong to the dashboard
 * of the same release and are not in the reference of the API. Amounts are decimal texts in whole units, times ISO 8601.
 */

export type OperatedChain = {
  chain: string;
  /** Of the last block that is applied; null before the first. */
  height: number | null;
  block_at: string | null;
  /** Of the head of its node, as the replica that answers has read it last. */
  node_height: number | null;
  /** All payments up to this time are known. */
  known_until: string | null;
  synced_at: string | null;
  /** How long ago the chain was last synced. */
  lag_seconds: number | null;
  /** Invoices do not expire while it is not synced. */
  is_late: boolean;
  /** Of several nodes: how many were down, late or said something else than the quorum in the last minute; null with one. */
  nodes_left_out: number | null;
  /** Why no address is given out, or the network is not the right one. */
  problems: string[];
  /** Payments about which its node contradicts itself, and that are held. */
  contradictions: number;
};

export type OperatedRescan = {
  id: string;
  chain: string;
  from_height: number;
  next_height: number;
  until_height: number | null;
  found: number;
  asked_at: string;
  ended_at: string | null;
  failure: string | null;
};

/** `GET /api/operator/chains` of invoices. */
export type OperatedChains = { chains: OperatedChain[]; rescans: OperatedRescan[] };

export type OperatedQueue = { asset: string; status: string; payouts: number; oldest_at: string };

export type StalledPayout = {
  id: string;
  account_id: string;
  asset: string;
  amount: string;
  status: string;
  created_at: string;
  /** Why the signer refuses it for now. */
  refused_because: string | null;
};

export type OperatedWallet = {
  chain: string;
  hot_address: string;
  /** Why nothing is signed there. */
  signing_paused: string | null;
  /** A replica has the lease to pay there. */
  has_leader: boolean;
  float: {
    asset: string;
    /** At the hot wallet; null while its node does not answer. */
    balance: string | null;
    /** On deposit addresses, and can be swept. */
    unswept: string;
  }[];
};

export type OperatedSweep = {
  id: string;
  chain: string;
  asset: string;
  amount: string;
  address: string;
  state: string;
  tx_hash: string;
  created_at: string;
};

/** `GET /api/operator/payouts` of payouts. */
export type OperatedPayouts = {
  queues: OperatedQueue[];
  stalled: StalledPayout[];
  wallets: OperatedWallet[];
  sweeps: OperatedSweep[];
  paused_assets: string[];
};

export type OperatedCheck = {
  began_at: string;
  ended_at: string;
  right: boolean;
  /** By chain: null when it was compared, else why it could not be. */
  chains: Record<string, string | null>;
};

export type OperatedDiscrepancy = {
  invariant: string;
  what: string;
  asset: string | null;
  chain: string | null;
  pauses_payouts: boolean;
  times: number;
  first_seen_at: string;
  last_seen_at: string;
  accepted_at: string | null;
};

export type OperatedPause = {
  asset: string;
  /** Payouts has done it. */
  in_force: boolean;
  paused_at: string;
  reasons: { invariant: string; what: string }[];
  /** It was set here, so it can be ended here. */
  by_console: boolean;
};

/** `GET /api/operator/reconciliation` of the auditor. */
export type OperatedReconciliation = {
  checks: { recent: OperatedCheck | null; whole: OperatedCheck | null };
  discrepancies: OperatedDiscrepancy[];
  pauses: OperatedPause[];
  assets: {
    asset: string;
    chain: string;
    /** When the newest check began that found it right; null before the first. */
    passed_at: string | null;
    /** At the last comparison with the chain by the replica that answers; null when another one compares. */
    reserves: string | null;
    liabilities: string | null;
    /** The operator's own money; null before it was measured. */
    operator_funds: string | null;
  }[];
};

/** Of `GET /api/operator/dead-letters` of the gateway. */
export type OperatedDeadLetter = {
  /** The receiver, which could not process it. */
  service: string;
  event: string;
  kind: string;
  failure: string;
  failed_at: string;
  /** A service has it in its outbox, and can send it again. */
  can_be_sent_again: boolean;
};

/** Of `GET /api/operator/accounts` of the gateway. */
export type OperatedAccount = {
  id: string;
  name: string;
  created_at: string;
  /** Of each of its tokens. Null: the setting RATE_LIMIT_PER_MINUTE. */
  requests_per_minute: number | null;
  people: number;
  /** Valid ones. */
  tokens: number;
};

/** Of `GET /api/operator/audit-log` of the gateway. */
export type OperatedAuditEntry = {
  position: string;
  at: string;
  actor: string;
  source: string | null;
  action: string;
  account_id: string | null;
  subject: string | null;
  detail: string | null;
};

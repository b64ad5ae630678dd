import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { RequestOf } from '@quittance/shared/commands';
import type { Db } from '@quittance/shared/db';
import type { GatewayPublicKeys } from '@quittance/shared/gateway-keys';
import type { Logger } from '@quittance/shared/logger';
import type { ProcessedEvent } from '@quittance/shared/process-messages';
import type { FeeEstimateBoard } from '@quittance/shared/quotes';
import type { HoldProblem, ReadRequest } from './domain/asked-hold.ts';
import type { AssetSettings, Difference } from './domain/asset-settings.ts';
import type { AskedHold, Hold } from './domain/hold.ts';
import type { Reading } from './domain/quote.ts';
import type { HoldProof, KeptProof } from './store/hold-proofs.ts';

/** Where rates come from. */
export type PriceSource = {
  /** With fewer sources than this an asset has no rate. */
  sourcesMin: number;
  /** What can be read now; a source that fails is missing from it, and logged. Never throws. */
  read(): Promise<Reading[]>;
};

/** Decides holds, those of the same moment together. */
export type HoldBatcher = {
  /** What was decided for the payout, now or before; rejects when nothing could be. */
  decide(payout: AskedHold): Promise<Hold>;
};

/** Knows by which requests payouts were asked for, those of the same moment together. */
export type ProofBatcher = {
  /** The request that a hold is asked for with; undefined when its assertion is not right. */
  read(proof: NonNullable<RequestOf<'hold.place'>['proof']>): ReadRequest | undefined;
  /** Keeps it for this payout, unless another one has used it. */
  keep(proof: HoldProof): Promise<KeptProof['outcome']>;
};

export type Settings = {
  /** Tells this process from the other replicas. */
  replica: string;
  /** By these it checks what the gateway asserts about a request. */
  gatewayKeys: GatewayPublicKeys;
  /** Until then holds without a request are placed. */
  unprovenUntil: Date | undefined;
  /** Where merchants reach the API: the lists' links start with it. */
  publicUrl: string;
  quotesEveryMs: number;
  assets: AssetSettings;
};

export type Ports = {
  db: Db;
  bus: Bus;
  clock: Clock;
  logger: Logger;
  prices: PriceSource;
  /** The fee estimates that payouts publishes. */
  fees: Pick<FeeEstimateBoard, 'fresh'>;
  holds: HoldBatcher;
  proofs: ProofBatcher;
  /** Counts a hold that no request asks for. */
  countUnasked: (problem: HoldProblem) => void;
  /** Counts the money that these events have moved. */
  countMoved: (events: readonly ProcessedEvent[]) => void;
  /** Whether this replica's asset settings were in force at the last check. */
  settingsState: { differences: readonly Difference[] };
  settings: Settings;
  /** Wakes the relay: call it after a commit that wrote to the outbox. */
  wakeRelay: () => void;
};

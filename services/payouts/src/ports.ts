import type { EvmSender } from '@quittance/chains/chain';
import type { Bus } from '@quittance/shared/bus';
import type { Clock } from '@quittance/shared/clock';
import type { Db } from '@quittance/shared/db';
import type { Random } from '@quittance/shared/ids';
import type { Logger } from '@quittance/shared/logger';
import type { QuoteBoard } from '@quittance/shared/quotes';
import type { Patience } from './domain/judge.ts';
import type { Notices } from './notices.ts';
import type { PayoutNumbers } from './payout-numbers.ts';

/** Why nothing is signed at the moment although the node answers: the wrong network, a wallet of another seed, or lost commits. */
export type SigningBar = { reason: string | undefined };

export type Settings = {
  identitySecret: string;
  publicUrl: string;
  /** Tells this process from the other replicas: leases are held under this name. */
  replica: string;
  leaseMs: number;
  patience: Patience;
};

/** Everything an operation may need from the outside; each takes the part it uses. */
export type Ports = {
  db: Db;
  bus: Pick<Bus, 'connected' | 'ask'>;
  clock: Clock;
  random: Random;
  logger: Logger;
  notices: Notices;
  quotes: Pick<QuoteBoard, 'latest' | 'fresh'>;
  numbers: PayoutNumbers;
  sender: EvmSender;
  signingBar: SigningBar;
  settings: Settings;
  /** Called after a commit that wrote an event: carry it at once. */
  announced: () => void;
};

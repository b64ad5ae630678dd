import type { Service } from '@quittance/shared/events';
import type { Nodes } from '@quittance/stack/faucet';

/** Options of `startQuittance` with their defaults filled in. */
export type StartOptions = {
  blockEverySeconds: number;
  confirmations: number;
  settings: Partial<Record<Service, Record<string, string>>>;
  say: (line: string) => void;
  chains?: readonly ('bitcoin' | 'solana')[];
};

/** A running stack, whether its engines are processes or containers. */
export type StartedStack = {
  url: string;
  /** A superuser's URL of the database. */
  adminUrl: string;
  nodes: Nodes;
  /** The name by which the services reach this machine. */
  hostSeenFromServices: string;
  stop(): Promise<void>;
};

import type { ChainNodes, Merchant, QuittanceOptions } from '../public.ts';

/** What the process of the shop's tests asks of the one that runs Quittance. The names are those of `Quittance`. */
export type Calls = {
  start(options: Omit<QuittanceOptions, 'say' | 'engines'>): {
    url: string;
    token: string;
    nodes: ChainNodes;
  };
  merchant(name?: string): Merchant;
  pay(asset: string, address: string, amount: string): string;
  mine(blocks?: number): void;
  stop(): void;
};

export type Call = {
  [Name in keyof Calls]: { id: number; call: Name; args: Parameters<Calls[Name]> };
}[keyof Calls];

export type Answer =
  | { id: number; value: unknown }
  | { id: number; error: string }
  /** A line for the option `say`. */
  | { say: string };
